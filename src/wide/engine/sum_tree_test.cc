#include "wide/engine/sum_tree.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cstring>
#include <random>

namespace wide::engine {
namespace {

constexpr std::size_t kWidth = 5;

BufferPool& buffers() {
  static BufferPool pool;
  return pool;
}

// Magnitudes so far apart that every other order of additions shows in the bits.
TreeValue leaf(Block block, std::uint32_t seed) {
  std::mt19937 engine(seed * 1000 + block);
  TreeValue value{take_floats(buffers(), kWidth), 0};
  for (float& entry : value.sum.values) {
    const auto word = static_cast<std::uint32_t>(engine());
    const std::uint32_t exponent = 115 + engine() % 24;
    entry = std::bit_cast<float>((word & 0x807fffffu) | exponent << 23);
  }
  value.loss_sum = static_cast<double>(engine()) / 7;
  return value;
}

// The definition, top down: halves of the next power of two, absent ones skipped.
TreeValue plain_sum(Block first, std::uint64_t width, Block block_count, std::uint32_t seed) {
  if (width == 1) return leaf(first, seed);
  auto left = plain_sum(first, width / 2, block_count, seed);
  if (first + width / 2 >= block_count) return left;
  const auto right = plain_sum(first + static_cast<Block>(width / 2), width / 2, block_count, seed);
  for (std::size_t i = 0; i < kWidth; ++i) left.sum.values[i] += right.sum.values[i];
  left.loss_sum += right.loss_sum;
  return left;
}

// What a node sends for a lease: its own little tree over the blocks of a subtree.
TreeValue node_sum(Subtree subtree, std::uint32_t seed) {
  SumTree tree(subtree.count, buffers());
  for (Block i = 0; i < subtree.count; ++i) tree.add({i, 1}, leaf(subtree.first + i, seed));
  return tree.take_root();
}

bool same_bits(const TreeValue& a, const TreeValue& b) {
  return a.sum.size() == b.sum.size() && a.loss_sum == b.loss_sum &&
         std::memcmp(a.sum.values.data(), b.sum.values.data(), a.sum.size() * sizeof(float)) == 0;
}

RC_GTEST_PROP(SumTree, GivesSameBitsForAnySplitInAnyOrder, ()) {
  const auto block_count = *rc::gen::inRange<Block>(1, 101);
  const auto seed = *rc::gen::inRange<std::uint32_t>(0, 1000);
  std::vector<Subtree> leases;
  for (Block first = 0; first < block_count; first = leases.back().end()) {
    const auto count_max = *rc::gen::inRange<Block>(1, 20);
    leases.push_back(widest_subtree(first, count_max, block_count));
    RC_ASSERT(is_subtree(leases.back(), block_count));
  }
  std::mt19937 order(seed);
  std::shuffle(leases.begin(), leases.end(), order);

  SumTree tree(block_count, buffers());
  for (const auto lease : leases) {
    RC_ASSERT(!tree.complete());
    tree.add(lease, node_sum(lease, seed));
  }

  RC_ASSERT(tree.complete());
  const auto root = tree.take_root();
  RC_ASSERT(same_bits(root, plain_sum(0, std::bit_ceil(block_count), block_count, seed)));
}

// Without this the property above would prove nothing.
TEST(SumTree, IsTestedWithValuesThatShowTheOrder) {
  auto in_order = leaf(0, 1);
  for (Block block = 1; block < 16; ++block) {
    add_floats_reference(in_order.sum.values, leaf(block, 1).sum.values);
  }

  const auto tree = plain_sum(0, 16, 16, 1);

  EXPECT_NE(std::memcmp(in_order.sum.values.data(), tree.sum.values.data(), kWidth * sizeof(float)),
            0);
}

TEST(SumTree, HoldsFewPendingValuesWhenBlocksComeInOrder) {
  SumTree tree(1000, buffers());
  std::size_t pending_max = 0;
  for (Block block = 0; block < 1000; ++block) {
    tree.add({block, 1}, leaf(block, 1));
    pending_max = std::max(pending_max, tree.pending_count());
  }

  EXPECT_TRUE(tree.complete());
  EXPECT_LE(pending_max, 10u);
}

TEST(SumTree, NeverWritesWhatOthersHold) {
  const auto left = leaf(0, 1);
  const auto right = leaf(1, 1);
  SumTree tree(2, buffers());

  tree.add({0, 1}, left);
  tree.add({1, 1}, right);
  const auto root = tree.take_root();

  EXPECT_TRUE(same_bits(left, leaf(0, 1)));
  EXPECT_TRUE(same_bits(right, leaf(1, 1)));
  EXPECT_TRUE(same_bits(root, plain_sum(0, 2, 2, 1)));
}

TEST(SumTree, GivesRootThatMayBeWritten) {
  const auto only = leaf(0, 1);
  SumTree tree(1, buffers());
  tree.add({0, 1}, only);

  const auto root = tree.take_root();

  EXPECT_EQ(root.sum.owner.use_count(), 1);
  EXPECT_TRUE(same_bits(root, only));
}

TEST(SumTree, AddsInPlace) {
  auto left = leaf(0, 1);
  const auto* place = left.sum.values.data();
  SumTree tree(2, buffers());
  tree.add({0, 1}, std::move(left));
  tree.add({1, 1}, leaf(1, 1));

  EXPECT_EQ(tree.take_root().sum.values.data(), place);
}

TEST(SumTreeDeathTest, RefusesBlocksTwice) {
  SumTree tree(4, buffers());
  tree.add({0, 1}, leaf(0, 1));

  EXPECT_DEATH(tree.add({0, 1}, leaf(0, 1)), "twice");
  EXPECT_DEATH(tree.add({1, 2}, leaf(1, 1)), "is_subtree");
}

TEST(IsSubtree, KnowsNodesOfTheTree) {
  EXPECT_TRUE(is_subtree({0, 5}, 5));
  EXPECT_TRUE(is_subtree({4, 1}, 5));
  EXPECT_TRUE(is_subtree({2, 2}, 5));
  EXPECT_TRUE(is_subtree({4, 3}, 7));
  EXPECT_FALSE(is_subtree({0, 3}, 5));
  EXPECT_FALSE(is_subtree({1, 2}, 5));
  EXPECT_FALSE(is_subtree({4, 2}, 5));
  EXPECT_FALSE(is_subtree({0, 0}, 5));
  EXPECT_FALSE(is_subtree({4, 3}, 8));
  EXPECT_FALSE(is_subtree({4294967295u, 2}, 4294967295u));
}

TEST(WidestSubtree, EndsAtTheLimitOrTheLastBlock) {
  EXPECT_EQ(widest_subtree(0, 1, 7), (Subtree{0, 1}));
  EXPECT_EQ(widest_subtree(0, 3, 7), (Subtree{0, 2}));
  EXPECT_EQ(widest_subtree(0, 4, 7), (Subtree{0, 4}));
  EXPECT_EQ(widest_subtree(0, 100, 7), (Subtree{0, 7}));
  EXPECT_EQ(widest_subtree(4, 3, 7), (Subtree{4, 3}));
  EXPECT_EQ(widest_subtree(4, 2, 7), (Subtree{4, 2}));
  EXPECT_EQ(widest_subtree(6, 9, 7), (Subtree{6, 1}));
  EXPECT_EQ(widest_subtree(5, 9, 7), (Subtree{5, 1}));
}

}  // namespace
}  // namespace wide::engine
