#pragma once
// The board of a round: which of its pieces are free, out or done. A piece is a block of a step or
// a unit of an evaluation; pieces go out in runs that are nodes of the sum tree.
//
//   free ──take──▶ out (one holder, or several when a lease was copied) ──finish──▶ done
//     ▲───────release (the last holder is gone)───┘
//
// A doubted piece gave a strange result: it goes out alone, and to somebody else if there is one.

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "wide/engine/sum_tree.h"

namespace wide::engine {

class Board final {
 public:
  explicit Board(Block count);

  void take(Subtree run);
  void release(Subtree run);
  void finish(Subtree run);
  void doubt(Block piece, NodeId node);  // `node` gave the strange result

  Block count() const { return static_cast<Block>(done_.size()); }
  Block free_count() const { return free_count_; }
  Block done_count() const { return done_count_; }
  bool complete() const { return done_count_ == count(); }
  bool any_done(Subtree run) const;
  bool shared(Subtree run) const;  // some piece of it has a second holder
  Block first_undone() const { return first_undone_; }
  bool has_doubts() const { return !doubted_.empty(); }

  // The leftmost free piece before `end` that `node` may have. A piece that it gave a strange
  // result for is left to those of the `crowd` who did not, while there are any.
  std::optional<Block> first_free_for(NodeId node, std::span<const NodeId> crowd, Block end) const;

  // How many pieces from `first` may go out as one run: free, neighbours, none doubted (unless it
  // is the only one).
  Block free_run(Block first, Block count_max) const;

 private:
  bool left_to_others(Block piece, NodeId node, std::span<const NodeId> crowd) const;
  bool is_free(Block piece) const { return !done_[piece] && holders_[piece] == 0; }

  std::vector<bool> done_;
  std::vector<std::uint16_t> holders_;
  std::map<Block, std::vector<NodeId>> doubted_;
  Block free_count_;
  Block done_count_ = 0;
  Block first_undone_ = 0;
  Block search_from_ = 0;  // nothing before it is free
};

}  // namespace wide::engine
