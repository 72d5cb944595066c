#pragma once
// The fixed binary tree over the blocks of a step. Its leaves are blocks 0 … block_count - 1; the
// node at (level, index) covers [index << level, (index + 1) << level), cut at block_count.
//
//   level 2            0 … 3                      an inner value is left + right, float32;
//   level 1      0 1          2 3      4          where the right child covers no block
//   level 0     0   1        2   3    4           the left one passes through unchanged
//
// Anyone may add up an aligned subtree alone: the root's bits are the same whoever added what,
// in whatever order it came. Losses go through the same tree in double.
//
// Pending values are bounded by what the caller adds out of order. Two values meet in the buffer
// of one of them where the tree alone holds it, else in a fresh one: what others see never changes.

#include <cstdint>
#include <map>
#include <span>
#include <utility>

#include "wide/base/buffer.h"
#include "wide/base/ids.h"

namespace wide::engine {

// A run of blocks that is one node of the tree.
struct Subtree {
  Block first = 0;
  Block count = 0;

  Block end() const { return first + count; }
  friend auto operator<=>(const Subtree&, const Subtree&) = default;
};

// The widest node of the tree that starts at `first`, covers at most `count_max` blocks (at least
// one) and ends within block_count.
Subtree widest_subtree(Block first, Block count_max, Block block_count);

// Is this run exactly what one node of the tree covers?
bool is_subtree(Subtree subtree, Block block_count);

struct TreeValue {
  Floats sum;
  double loss_sum = 0;
};

class SumTree final {
 public:
  SumTree(Block block_count, BufferPool& buffers);

  // `subtree` must be a node of the tree, disjoint from everything added before.
  void add(Subtree subtree, TreeValue value);

  bool complete() const { return done_count_ == block_count_; }
  TreeValue take_root();  // once complete; nobody else holds its buffer, so it may be written

  std::size_t pending_count() const { return pending_.size(); }

 private:
  using Place = std::pair<unsigned, Block>;  // level, index

  TreeValue joined(TreeValue left, TreeValue right);

  Block block_count_;
  BufferPool& buffers_;
  Block done_count_ = 0;
  std::map<Place, TreeValue> pending_;
};

// into[i] = into[i] + from[i]; the one place where gradients meet. SIMD targets equal the plain
// loop.
void add_floats(std::span<float> into, std::span<const float> from);
void add_floats_reference(std::span<float> into, std::span<const float> from);

}  // namespace wide::engine
