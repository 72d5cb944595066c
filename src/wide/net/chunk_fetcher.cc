#include "wide/net/chunk_fetcher.h"

#include <fmt/format.h>

#include <algorithm>

#include <asio/post.hpp>

#include "wide/base/log.h"
#include "wide/engine/pool/pool.h"
#include "wide/net/signal_block.h"

namespace wide::net {

namespace {

constexpr std::size_t kAskedMax = engine::kFetchCountMax;
constexpr std::size_t kAheadMax = 4;  // of those, for chunks that nobody waits for
constexpr int kWrongMax = 8;

}  // namespace

ChunkFetcher::ChunkFetcher(asio::io_context& io, std::shared_ptr<data::ChunkShelf> shelf,
                           Outlets outlets)
    : io_(io),
      shelf_(std::move(shelf)),
      outlets_(std::move(outlets)),
      storing_((SignalBlock(), 1)) {}  // the block lives until the thread has started

ChunkFetcher::~ChunkFetcher() {
  storing_.stop();
  storing_.join();
}

void ChunkFetcher::linked() {
  linked_ = true;
  ask();
}

void ChunkFetcher::unlinked() {
  linked_ = false;
  asked_count_ = 0;
  for (auto& [chunk, stage] : stages_) {
    if (stage != Stage::kAsked) continue;
    stage = Stage::kWanted;
    wanted_.push_front(chunk);
  }
}

bool ChunkFetcher::on_shelf(std::uint64_t chunk) {
  return shelf_->hold(std::span(&chunk, 1)) != nullptr;
}

// Each chunk is asked for once: the storing thread may put it on the shelf at any moment, and who
// misses nothing is not to wait.
void ChunkFetcher::want(const std::vector<std::uint64_t>& chunks, Ready ready) {
  auto waiter = std::make_unique<Waiter>();
  waiter->ready = std::move(ready);
  for (const auto chunk : chunks) {
    if (auto hold = shelf_->hold(std::span(&chunk, 1))) {
      waiter->holds.push_back(std::move(hold));
    } else {
      waiter->missing.push_back(chunk);
    }
  }
  if (waiter->missing.empty()) return hand_over(*waiter);

  const auto missing = waiter->missing;
  waiters_.push_back(std::move(waiter));
  for (const auto chunk : missing) {
    const auto stage = stages_.find(chunk);
    if (stage == stages_.end()) {
      look(chunk);
    } else if (stage->second == Stage::kWanted) {
      std::erase(wanted_, chunk);
      wanted_.push_front(chunk);
    }
  }
}

void ChunkFetcher::hand_over(Waiter& waiter) {
  waiter.ready(std::make_shared<const std::vector<Hold>>(std::move(waiter.holds)));
}

void ChunkFetcher::expect(const std::vector<std::uint64_t>& chunks) {
  for (const auto chunk : chunks) {
    if (!stages_.contains(chunk) && !on_shelf(chunk)) look(chunk);
  }
}

bool ChunkFetcher::awaited(std::uint64_t chunk) const {
  return std::ranges::any_of(waiters_, [chunk](const auto& waiter) {
    return std::ranges::find(waiter->missing, chunk) != waiter->missing.end();
  });
}

void ChunkFetcher::look(std::uint64_t chunk) {
  stages_[chunk] = Stage::kLooking;
  asio::post(storing_, [this, chunk] {
    const bool found = shelf_->at_hand(chunk);
    asio::post(io_, [this, chunk, found] { looked(chunk, found); });
  });
}

void ChunkFetcher::looked(std::uint64_t chunk, bool found) {
  if (found) return settled(chunk);
  stages_[chunk] = Stage::kWanted;
  if (awaited(chunk)) {
    wanted_.push_front(chunk);
  } else {
    wanted_.push_back(chunk);
  }
  ask();
}

void ChunkFetcher::ask() {
  if (!linked_) return;
  wire::Fetch fetch;
  while (asked_count_ < kAskedMax && !wanted_.empty()) {
    fetch.chunks.push_back({wanted_.front()});
    stages_[wanted_.front()] = Stage::kAsked;
    wanted_.pop_front();
    ++asked_count_;
  }
  if (!fetch.chunks.empty()) outlets_.send(std::move(fetch));
}

void ChunkFetcher::fetch_ahead() {
  while (linked_ && stages_.size() < kAheadMax) {
    const auto chunk = outlets_.foresee();
    if (!chunk) return;
    if (!stages_.contains(*chunk) && !on_shelf(*chunk)) look(*chunk);
  }
}

void ChunkFetcher::arrived(wire::Chunk chunk) {
  const auto stage = stages_.find(chunk.chunk);
  if (stage == stages_.end() || stage->second != Stage::kAsked) return;  // nobody asked
  stage->second = Stage::kStoring;
  --asked_count_;
  ask();
  asio::post(storing_, [this, chunk = std::move(chunk)] {
    const auto kept = shelf_->put(chunk.chunk, chunk.bytes.owner, chunk.bytes.joined());
    asio::post(io_, [this, number = chunk.chunk, bytes = chunk.bytes.size(), kept] {
      ++fetched_count_;
      fetched_bytes_ += bytes;
      stored(number, kept);
    });
  });
}

void ChunkFetcher::stored(std::uint64_t chunk, const Result<void>& kept) {
  if (kept) return settled(chunk);
  log::info("chunk refused chunk={} reason={}", chunk, describe(kept.error()));
  if (++wrong_count_ > kWrongMax) return outlets_.failed(kept.error());
  stages_[chunk] = Stage::kWanted;
  wanted_.push_front(chunk);
  ask();
}

void ChunkFetcher::settled(std::uint64_t chunk) {
  stages_.erase(chunk);
  std::vector<std::unique_ptr<Waiter>> done;
  for (auto& waiter : waiters_) {
    const auto found = std::ranges::find(waiter->missing, chunk);
    if (found == waiter->missing.end()) continue;
    auto hold = shelf_->hold(std::span(&chunk, 1));
    if (!hold) {  // put away again before anyone could hold it
      if (!stages_.contains(chunk)) look(chunk);
      continue;
    }
    waiter->holds.push_back(std::move(hold));
    waiter->missing.erase(found);
    if (waiter->missing.empty()) done.push_back(std::move(waiter));
  }
  std::erase(waiters_, nullptr);
  for (auto& waiter : done) hand_over(*waiter);
  fetch_ahead();
}

}  // namespace wide::net
