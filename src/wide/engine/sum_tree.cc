#include "wide/engine/sum_tree.h"

#include <algorithm>
#include <bit>

#include "wide/base/check.h"
#include "wide/engine/float_kernels.h"

namespace wide::engine {

namespace {

// The lowest level whose nodes are wide enough for so many blocks.
unsigned level_for(Block count) { return static_cast<unsigned>(std::bit_width(count - 1)); }

std::uint64_t cut_end(Block first, unsigned level, Block block_count) {
  return std::min<std::uint64_t>(first + (std::uint64_t{1} << level), block_count);
}

bool is_aligned(Block first, unsigned level) {
  return (first & ((std::uint64_t{1} << level) - 1)) == 0;
}

bool is_held_alone(const Floats& floats) { return floats.owner.use_count() == 1; }

}  // namespace

Subtree widest_subtree(Block first, Block count_max, Block block_count) {
  WIDE_CHECK(first < block_count);
  Subtree widest{first, 1};
  for (unsigned level = 1; is_aligned(first, level); ++level) {
    const auto end = cut_end(first, level, block_count);
    if (end - first > count_max) break;
    widest.count = static_cast<Block>(end - first);
    if (end == block_count) break;
  }
  return widest;
}

bool is_subtree(Subtree subtree, Block block_count) {
  const auto end = std::uint64_t{subtree.first} + subtree.count;
  if (subtree.count == 0 || end > block_count) return false;
  const auto level = level_for(subtree.count);
  return is_aligned(subtree.first, level) && cut_end(subtree.first, level, block_count) == end;
}

SumTree::SumTree(Block block_count, BufferPool& buffers)
    : block_count_(block_count), buffers_(buffers) {
  WIDE_CHECK(block_count > 0);
}

void SumTree::add(Subtree subtree, TreeValue value) {
  WIDE_CHECK(is_subtree(subtree, block_count_));
  WIDE_CHECK(subtree.count <= block_count_ - done_count_, "blocks were added twice");
  done_count_ += subtree.count;

  unsigned level = level_for(subtree.count);
  Block index = subtree.first >> level;
  for (; level < level_for(block_count_); ++level, index /= 2) {
    const bool is_left = index % 2 == 0;
    if (is_left && std::uint64_t{index + 1} << level >= block_count_) continue;  // no right one
    const auto sibling = pending_.find({level, index ^ 1});
    if (sibling == pending_.end()) break;
    auto other = std::move(sibling->second);
    pending_.erase(sibling);
    value = is_left ? joined(std::move(value), std::move(other))
                    : joined(std::move(other), std::move(value));
  }
  WIDE_CHECK(pending_.try_emplace({level, index}, std::move(value)).second,
             "blocks were added twice");
}

TreeValue SumTree::take_root() {
  WIDE_CHECK(complete() && pending_.size() == 1);
  TreeValue root = std::move(pending_.begin()->second);
  pending_.clear();
  if (!is_held_alone(root.sum)) {
    Floats copy = take_floats(buffers_, root.sum.size());
    std::ranges::copy(root.sum.values, copy.values.begin());
    root.sum = std::move(copy);
  }
  return root;
}

TreeValue SumTree::joined(TreeValue left, TreeValue right) {
  WIDE_CHECK(left.sum.size() == right.sum.size());
  const auto count = left.sum.size();
  Floats sum = is_held_alone(left.sum)    ? left.sum
               : is_held_alone(right.sum) ? right.sum
                                          : take_floats(buffers_, count);
  add_kernel(left.sum.values.data(), right.sum.values.data(), sum.values.data(), count);
  return {std::move(sum), left.loss_sum + right.loss_sum};
}

void add_floats(std::span<float> into, std::span<const float> from) {
  WIDE_CHECK(into.size() == from.size());
  add_kernel(into.data(), from.data(), into.data(), into.size());
}

void add_floats_reference(std::span<float> into, std::span<const float> from) {
  WIDE_CHECK(into.size() == from.size());
  for (std::size_t i = 0; i < into.size(); ++i) into[i] = into[i] + from[i];
}

}  // namespace wide::engine
