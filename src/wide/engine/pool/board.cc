#include "wide/engine/pool/board.h"

#include <algorithm>

#include "wide/base/check.h"

namespace wide::engine {

Board::Board(Block count) : done_(count, false), holders_(count, 0), free_count_(count) {}

void Board::take(Subtree run) {
  WIDE_CHECK(run.end() <= count());
  for (Block piece = run.first; piece < run.end(); ++piece) {
    WIDE_CHECK(!done_[piece]);
    if (holders_[piece]++ == 0) --free_count_;
  }
  if (run.first <= search_from_) search_from_ = std::max(search_from_, run.end());
}

void Board::release(Subtree run) {
  for (Block piece = run.first; piece < run.end(); ++piece) {
    if (done_[piece]) continue;
    WIDE_CHECK(holders_[piece] > 0);
    if (--holders_[piece] == 0) ++free_count_;
  }
  search_from_ = std::min(search_from_, run.first);
}

void Board::finish(Subtree run) {
  for (Block piece = run.first; piece < run.end(); ++piece) {
    WIDE_CHECK(!done_[piece], "a piece counts once");
    if (holders_[piece] == 0) --free_count_;
    done_[piece] = true;
    ++done_count_;
    doubted_.erase(piece);
  }
  while (first_undone_ < count() && done_[first_undone_]) ++first_undone_;
}

void Board::doubt(Block piece, NodeId node) { doubted_[piece].push_back(node); }

bool Board::any_done(Subtree run) const {
  return std::any_of(done_.begin() + run.first, done_.begin() + run.end(),
                     [](bool done) { return done; });
}

bool Board::shared(Subtree run) const {
  return std::any_of(holders_.begin() + run.first, holders_.begin() + run.end(),
                     [](std::uint16_t holders) { return holders > 1; });
}

bool Board::left_to_others(Block piece, NodeId node, std::span<const NodeId> crowd) const {
  const auto doubt = doubted_.find(piece);
  if (doubt == doubted_.end()) return false;
  const auto doubted_by = [&](NodeId who) {
    return std::ranges::find(doubt->second, who) != doubt->second.end();
  };
  return doubted_by(node) && !std::ranges::all_of(crowd, doubted_by);
}

std::optional<Block> Board::first_free_for(NodeId node, std::span<const NodeId> crowd,
                                           Block end) const {
  end = std::min(end, count());
  for (Block piece = std::max(search_from_, first_undone_); piece < end; ++piece) {
    if (is_free(piece) && !left_to_others(piece, node, crowd)) return piece;
  }
  return std::nullopt;
}

Block Board::free_run(Block first, Block count_max) const {
  if (doubted_.contains(first)) return 1;
  Block length = 0;
  while (length < count_max && first + length < count() && is_free(first + length) &&
         !doubted_.contains(first + length)) {
    ++length;
  }
  return length;
}

}  // namespace wide::engine
