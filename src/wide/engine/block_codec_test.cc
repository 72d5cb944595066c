#include "wide/engine/block_codec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "wide/engine/lease_work.h"
#include "wide/engine/stub_computer.h"

namespace wide::engine {
namespace {

using codec::Lossy;

constexpr Lossy kOfGradients[] = {Lossy::kFp16, Lossy::kBf16, Lossy::kInt8,
                                  Lossy::kInt4, Lossy::kTopk, Lossy::kSign};

Job job_of(LossyPlan plan) {
  Job job;
  job.model.kind = ModelKind::kMlp;
  job.model.layers = {10, 40, 10};
  job.model.batch_norm = true;
  job.train.units_per_step = 11;
  job.train.block_units = 2;
  job.codec.gradient = plan;
  return job;
}

// A job with a codec, its replica at genesis, and a slot.
class CodedBlocks : public testing::TestWithParam<Lossy> {
 protected:
  CodedBlocks() : replica_(job_, genesis_, 1), computer_(factory_.make_computer()) {}

  LeaseOutcome compute(Block first, Block count, Step step = 3) {
    const wire::Lease lease{
        LeaseId{1}, step, step, 1, first, count, static_cast<std::uint8_t>(GetParam())};
    return compute_lease(*computer_, job_, genesis_.layout, replica_.weights(), lease, buffers_);
  }

  // As the pool sees it, through what travels.
  LeaseOutcome arrived(const LeaseOutcome& outcome) {
    wire::LeaseResult result;
    result.rows = outcome.rows;
    result.loss_sum = outcome.value.loss_sum;
    result.sum = outcome.sent;
    auto opened = open_result(std::move(result), genesis_.layout, buffers_);
    EXPECT_TRUE(opened) << describe(opened.error());
    return std::move(*opened);
  }

  Job job_ = job_of(static_cast<LossyPlan>(GetParam()));
  Genesis genesis_ = make_genesis(job_, {1000, 1000, {10}, 10, {}});
  BufferPool buffers_;
  Replica replica_;
  StubFactory factory_{job_, genesis_.layout};
  std::unique_ptr<UnitComputer> computer_;
};

bool same_bits(const Floats& one, const Floats& other) {
  return std::ranges::equal(one.bytes(), other.bytes());
}

TEST_P(CodedBlocks, AddUpToTheSameBitsWhoeverAddsThem) {
  const LeaseOutcome whole = compute(0, 6);

  SumTree tree(6, buffers_);
  tree.add({4, 2}, arrived(compute(4, 2)).value);
  for (const Block block : {3u, 0u, 2u, 1u}) {
    tree.add({block, 1}, arrived(compute(block, 1)).value);
  }
  const TreeValue root = tree.take_root();

  EXPECT_TRUE(same_bits(root.sum, whole.value.sum));
  EXPECT_TRUE(same_bits(arrived(whole).value.sum, whole.value.sum));
}

TEST_P(CodedBlocks, HaveTheHashOfWhatCounts) {
  const LeaseOutcome whole = compute(0, 6);

  for (Block block = 0; block < 6; ++block) {
    EXPECT_EQ(compute(block, 1).rows[0].sha256, whole.rows[block].sha256) << block;
  }
}

TEST_P(CodedBlocks, TravelCodedOnlyWhereThatIsShorter) {
  const std::uint64_t raw_bytes = genesis_.layout.value_count() * sizeof(float);
  const std::uint64_t coded_bytes = block_bytes(GetParam(), genesis_.layout);
  for (const Block count : {1u, 2u, 4u}) {
    const LeaseOutcome outcome = compute(0, count);

    EXPECT_EQ(outcome.sent.codec != 0, coded_bytes * count < raw_bytes) << count;
    EXPECT_EQ(outcome.sent.bytes.size(), std::min(coded_bytes * count, raw_bytes)) << count;
  }
}

TEST_P(CodedBlocks, RoundOtherwiseInAnotherStepOrJob) {
  const LeaseOutcome here = compute(0, 1, 3);
  job_.seed += 1;
  const LeaseOutcome elsewhere = compute(0, 1, 3);

  const auto parameters = [&](const LeaseOutcome& outcome) {
    return outcome.value.sum.values.first(genesis_.layout.parameter_count);
  };
  EXPECT_FALSE(std::ranges::equal(parameters(here), parameters(elsewhere)));
}

TEST_P(CodedBlocks, LeaveBuffersAsTheyAre) {
  std::vector<float> plain(genesis_.layout.value_count());
  Job alone = job_;
  alone.train.block_units = 1;
  job_ = alone;
  computer_->gradient(replica_.weights(), 3, 0, plain);

  const LeaseOutcome outcome = compute(0, 1);

  const std::size_t parameters = genesis_.layout.parameter_count;
  EXPECT_TRUE(std::ranges::equal(outcome.value.sum.values.subspan(parameters),
                                 std::span(plain).subspan(parameters)));
}

TEST_P(CodedBlocks, ThatAreNoCodeAreRefused) {
  LeaseOutcome outcome = compute(0, 1);
  if (outcome.sent.codec == 0) GTEST_SKIP() << "it is longer than the values themselves";
  std::vector<std::byte> spoilt(outcome.sent.bytes.begin(), outcome.sent.bytes.end());
  std::ranges::fill(spoilt, std::byte{0xFF});
  wire::LeaseResult result;
  result.rows = outcome.rows;
  result.sum = outcome.sent;
  result.sum.bytes = spoilt;

  const auto opened = open_result(std::move(result), genesis_.layout, buffers_);

  // Half floats and bare bits have a value for every pattern: then it is one that is no number.
  if (opened) {
    EXPECT_FALSE(std::isfinite(opened->value.sum.values[0]));
  } else {
    EXPECT_EQ(opened.error().code, Errc::kBadCoding);
  }
}

INSTANTIATE_TEST_SUITE_P(Codecs, CodedBlocks, testing::ValuesIn(kOfGradients),
                         [](const auto& tested) { return std::string(lossy_name(tested.param)); });

TEST(BlockBytes, IsNothingForWhatNeedsAMemory) {
  const Job job = job_of(LossyPlan::kNone);
  const auto layout = make_genesis(job, {1000, 1000, {10}, 10, {}}).layout;

  EXPECT_EQ(block_bytes(Lossy::kPowersgd, layout), 0u);
  EXPECT_EQ(block_bytes(Lossy::kNone, layout), layout.value_count() * sizeof(float));
}

}  // namespace
}  // namespace wide::engine
