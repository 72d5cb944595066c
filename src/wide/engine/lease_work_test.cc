#include "wide/engine/lease_work.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cstring>
#include <map>

#include "wide/engine/stub_computer.h"

namespace wide::engine {
namespace {

SampleSpace rows() { return {1000, 1030, {10}, 10, {}}; }

Job small_job(std::uint32_t units, std::uint32_t block_units) {
  Job job;
  job.model.kind = ModelKind::kMlp;
  job.model.layers = {10, 6, 10};
  job.model.batch_norm = true;
  job.train.units_per_step = units;
  job.train.block_units = block_units;
  return job;
}

// A job, its replica at genesis and a slot.
struct Bench {
  explicit Bench(Job wanted)
      : job(std::move(wanted)),
        genesis(make_genesis(job, rows())),
        layout(genesis.layout),
        replica(job, genesis, 1),
        computer(StubFactory(job, layout).make_computer()) {}

  LeaseOutcome compute(Block first, Block count, Step step = 0) {
    const wire::Lease lease{LeaseId{1}, step, step, 1, first, count};
    return compute_lease(*computer, job, layout, replica.weights(), lease, buffers);
  }

  Job job;
  Genesis genesis;
  Layout layout;
  BufferPool buffers;
  Replica replica;
  std::unique_ptr<UnitComputer> computer;
};

// Plain recursion over halves of the next power of two, written apart from SumTree.
std::vector<float> plain_units(Bench& bench, Unit first, Unit width, Unit end, double& loss) {
  std::vector<float> left(bench.layout.value_count());
  if (width == 1) {
    loss = bench.computer->gradient(bench.replica.weights(), 0, first, left);
    return left;
  }
  left = plain_units(bench, first, width / 2, end, loss);
  if (first + width / 2 >= end) return left;
  double right_loss = 0;
  const auto right = plain_units(bench, first + width / 2, width / 2, end, right_loss);
  for (std::size_t i = 0; i < left.size(); ++i) left[i] += right[i];
  loss += right_loss;
  return left;
}

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

TEST(ComputeLease, AddsUnitsInTheFixedTree) {
  Bench bench(small_job(7, 1));

  const auto outcome = bench.compute(0, 7);

  double loss = 0;
  EXPECT_TRUE(same_bits(outcome.value.sum.values, plain_units(bench, 0, 8, 7, loss)));
  EXPECT_EQ(outcome.value.loss_sum, loss);
  EXPECT_EQ(outcome.rows.size(), 7u);
}

TEST(ComputeLease, CutsTheLastBlockShort) {
  Bench bench(small_job(7, 3));  // blocks of 3, 3 and 1 units

  const auto last = bench.compute(2, 1);

  double loss = 0;
  EXPECT_TRUE(same_bits(last.value.sum.values, plain_units(bench, 6, 1, 7, loss)));
  EXPECT_EQ(last.value.loss_sum, loss);
  const auto first = bench.compute(0, 1);
  EXPECT_TRUE(same_bits(first.value.sum.values, plain_units(bench, 0, 4, 3, loss)));
}

RC_GTEST_PROP(ComputeLease, GivesSameBitsForLeasesOfAnySize, ()) {
  const auto units = *rc::gen::inRange<std::uint32_t>(1, 40);
  const auto block_units = *rc::gen::inRange<std::uint32_t>(1, units + 1);
  Bench bench(small_job(units, block_units));
  const auto blocks = bench.job.blocks_per_step();
  const auto whole = bench.compute(0, blocks);

  SumTree tree(blocks, bench.buffers);
  std::vector<wire::BlockRow> rows_seen;
  for (Block first = 0; first < blocks;) {
    const auto lease = widest_subtree(first, *rc::gen::inRange<Block>(1, 6), blocks);
    auto outcome = bench.compute(lease.first, lease.count);
    rows_seen.insert(rows_seen.end(), outcome.rows.begin(), outcome.rows.end());
    tree.add(lease, std::move(outcome.value));
    first = lease.end();
  }
  const auto root = tree.take_root();

  RC_ASSERT(same_bits(root.sum.values, whole.value.sum.values));
  RC_ASSERT(root.loss_sum == whole.value.loss_sum);
  for (Block i = 0; i < blocks; ++i) RC_ASSERT(rows_seen[i].sha256 == whole.rows[i].sha256);
}

TEST(ComputeLease, HashesBytesAndLossOfEachBlock) {
  Bench bench(small_job(4, 1));

  const auto outcome = bench.compute(2, 1);

  std::string bytes(reinterpret_cast<const char*>(outcome.value.sum.values.data()),
                    outcome.value.sum.values.size_bytes());
  bytes.append(reinterpret_cast<const char*>(&outcome.value.loss_sum), sizeof(double));
  EXPECT_EQ(outcome.rows[0].sha256, sha256(std::string_view(bytes)));
}

// A computer whose gradients are all minus nothing.
class MinusZero final : public UnitComputer {
 public:
  double gradient(const Weights&, Step, Unit, std::span<float> out) override {
    std::ranges::fill(out, -0.0f);
    return 0;
  }
  EvalOutcome evaluate(const Weights&, std::uint64_t, std::uint64_t) override { return {}; }
};

TEST(ComputeLease, LeavesNoNegativeZero) {
  Bench bench(small_job(1, 1));
  bench.computer = std::make_unique<MinusZero>();

  for (const float value : bench.compute(0, 1).value.sum.values) {
    ASSERT_EQ(std::bit_cast<std::uint32_t>(value), 0u);
  }
}

TEST(ComputeEvalLease, CoversHeldOutSamplesOnce) {
  Bench bench(small_job(4, 1));
  const auto units = eval_unit_count(bench.job, rows());
  ASSERT_EQ(units, 5u);  // four of 250 and one of 30

  const auto all = compute_eval_lease(*bench.computer, bench.job, rows(), bench.replica.weights(),
                                      {LeaseId{1}, 0, 1, 0, units});
  const auto last = compute_eval_lease(*bench.computer, bench.job, rows(), bench.replica.weights(),
                                       {LeaseId{2}, 0, 1, 4, 1});

  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(all[4].loss_sum, last[0].loss_sum);
  EXPECT_LE(all[4].correct_count, 30u);
  EXPECT_GT(all[0].correct_count, 30u);
}

TEST(NumericsClass, DependsOnLibrariesAndGradients) {
  Bench bench(small_job(4, 1));
  MinusZero other;
  const auto class_of = [&](UnitComputer& computer, const std::string& libraries) {
    return numerics_class(computer, libraries, bench.layout, bench.replica.weights(),
                          bench.buffers);
  };
  const auto expected = class_of(*bench.computer, "torch 1");

  EXPECT_EQ(class_of(*bench.computer, "torch 1"), expected);
  EXPECT_NE(class_of(*bench.computer, "torch 2"), expected);
  EXPECT_NE(class_of(other, "torch 1"), expected);
}

// Others have taken the blocks from `helped` on; each comes after so many of the holder's own, or
// never.
class ScriptedKin final : public Kin {
 public:
  ScriptedKin(Bench& bench, Block blocks, Block helped, std::vector<Block> comes_after)
      : bench_(bench), blocks_(blocks), helped_(helped), comes_after_(std::move(comes_after)) {}

  std::optional<Block> take() override {
    return taken_ < helped_ ? std::optional(taken_++) : std::nullopt;
  }
  bool has_come(Block place) const override {
    return place >= helped_ && comes_after_[place - helped_] <= taken_;
  }
  std::optional<BlockValue> collect(Block place, BufferPool& buffers) override {
    ++collected_[place];
    if (comes_after_[place - helped_] > blocks_) return std::nullopt;
    auto block = compute_block(*bench_.computer, bench_.job, bench_.layout,
                               bench_.replica.weights(), 0, place, buffers);
    block.helper = 7;
    return block;
  }
  int times_collected(Block place) { return collected_[place]; }

 private:
  Bench& bench_;
  Block blocks_;
  Block helped_;
  std::vector<Block> comes_after_;
  Block taken_ = 0;
  std::map<Block, int> collected_;
};

RC_GTEST_PROP(HelpedLease, EqualsOneThatWasComputedAlone, ()) {
  const auto blocks = *rc::gen::inRange<Block>(2, 12);
  const auto helped = *rc::gen::inRange<Block>(0, blocks + 1);
  const auto comes_after = *rc::gen::container<std::vector<Block>>(
      blocks - helped, rc::gen::inRange<Block>(0, blocks + 3));
  Bench bench(small_job(blocks, 1));
  const LeaseOutcome alone = bench.compute(0, blocks);
  ScriptedKin kin(bench, blocks, helped, comes_after);
  const wire::Lease lease{LeaseId{1}, 0, 0, 1, 0, blocks};
  HelpedLease together(*bench.computer, bench.job, bench.layout, bench.replica.weights(), lease,
                       bench.buffers, kin);

  while (together.compute_next()) {
  }
  const LeaseOutcome outcome = together.finish();

  RC_ASSERT(std::ranges::equal(outcome.value.sum.bytes(), alone.value.sum.bytes()));
  RC_ASSERT(outcome.value.loss_sum == alone.value.loss_sum);
  for (Block i = 0; i < blocks; ++i) {
    RC_ASSERT(outcome.rows[i].sha256 == alone.rows[i].sha256);
    const bool came = i >= helped && comes_after[i - helped] <= blocks;
    RC_ASSERT(outcome.rows[i].helper == (came ? 7 : 0));
    if (came) RC_ASSERT(kin.times_collected(i) == 1);
  }
}

}  // namespace
}  // namespace wide::engine
