#include "wide/engine/lead_replica.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "wide/base/philox.h"

namespace wide::engine {
namespace {

using codec::Lossy;

constexpr Lossy kOfUpdates[] = {Lossy::kNone, Lossy::kFp16, Lossy::kBf16, Lossy::kInt8,
                                Lossy::kInt4, Lossy::kTopk, Lossy::kSign, Lossy::kPowersgd};

// A pool's replica under a plan, and a node's that only sees what is sent.
class LossyUpdates : public testing::TestWithParam<Lossy> {
 protected:
  LossyUpdates() {
    job_.model.kind = ModelKind::kMlp;
    job_.model.layers = {10, 60, 10};
    job_.model.batch_norm = true;
    job_.codec.update = static_cast<LossyPlan>(GetParam());
    genesis_ = make_genesis(job_, {1000, 1000, {10}, 10, {}});
  }

  LeadReplica make_lead() { return LeadReplica(job_, genesis_, 7, buffers_); }

  // The record of a step with made-up values, as the pool would write it.
  CommitRecord record_for(const LeadReplica& lead, CodedUpdate& coded) {
    CommitRecord record;
    record.update_codec = static_cast<std::uint8_t>(GetParam());
    record.update = take_floats(buffers_, genesis_.layout.value_count());
    const RandomStream stream(5, 1, lead.step());
    for (std::size_t i = 0; i < record.update.size(); ++i) {
      record.update.values[i] = 0.01f * static_cast<float>(stream.normal(i));
    }
    lead.begin(record, 0);
    coded = lead.code(record);
    lead.finish(record, coded);
    return record;
  }

  void advance(LeadReplica& lead, int steps) {
    for (int i = 0; i < steps; ++i) {
      CodedUpdate coded;
      const CommitRecord record = record_for(lead, coded);
      ASSERT_TRUE(lead.advance(record, coded));
    }
  }

  Job job_;
  Genesis genesis_;
  BufferPool buffers_;
};

TEST_P(LossyUpdates, AreAppliedAlikeByThoseWhoOnlyDecode) {
  auto lead = make_lead();
  Replica node(job_, genesis_, 7);
  const UpdateCodec codec(job_, genesis_.layout);
  for (int i = 0; i < 8; ++i) {
    CodedUpdate coded;
    const CommitRecord record = record_for(lead, coded);
    EXPECT_EQ(coded.sent.bytes.size(), codec.bytes(GetParam()));
    auto values = codec.decode(coded.sent, buffers_);
    ASSERT_TRUE(values);
    ASSERT_TRUE(node.apply({record.step, record.chain_after, record.scalars, *values}));
    ASSERT_TRUE(lead.advance(record, coded));
  }

  EXPECT_EQ(node.state_hash(), lead.replica().state_hash());
}

TEST_P(LossyUpdates, ComeOutTheSameWhenTheLedgerIsReadAgain) {
  auto lead = make_lead();
  advance(lead, 3);
  const FrozenReplica checkpoint = lead.freeze();
  std::vector<CommitRecord> ledger;
  for (int i = 0; i < 5; ++i) {
    CodedUpdate coded;
    ledger.push_back(record_for(lead, coded));
    ASSERT_TRUE(lead.advance(ledger.back(), coded));
  }

  LeadReplica again(job_, Genesis{.layout = genesis_.layout}, 0, buffers_);
  ASSERT_TRUE(again.thaw(checkpoint));
  for (const auto& record : ledger) ASSERT_TRUE(again.advance(record));

  EXPECT_EQ(again.replica().state_hash(), lead.replica().state_hash());
  EXPECT_TRUE(std::ranges::equal(again.freeze().memory.bytes(), lead.freeze().memory.bytes()));
}

TEST_P(LossyUpdates, LeaveACheckpointAlone) {
  auto lead = make_lead();
  advance(lead, 2);
  const FrozenReplica held = lead.freeze();
  const Digest before = sha256(held.memory.bytes());

  advance(lead, 3);

  EXPECT_EQ(sha256(held.memory.bytes()), before);
}

TEST_P(LossyUpdates, LoseNothingInTheLongRun) {
  job_.train.optimizer = OptimizerKind::kAdam;
  job_.train.weight_decay = 0;
  auto lead = make_lead();
  Job plain = job_;
  plain.codec.update = LossyPlan::kNone;
  LeadReplica wanted(plain, genesis_, 7, buffers_);
  for (int i = 0; i < 20; ++i) {
    CodedUpdate coded;
    const CommitRecord record = record_for(lead, coded);
    CommitRecord same = record;
    same.update_codec = 0;
    wanted.begin(same, 0);
    const CodedUpdate as_it_is = wanted.code(same);
    wanted.finish(same, as_it_is);
    ASSERT_TRUE(wanted.advance(same, as_it_is));
    ASSERT_TRUE(lead.advance(record, coded));
  }

  // What the weights lack is exactly what is remembered, but for rounding.
  const FrozenReplica frozen = lead.freeze();
  const auto goal = wanted.replica().weights()->values.values;
  for (std::size_t at = 0; at < genesis_.layout.parameter_count; ++at) {
    const double lost = frozen.memory.empty() ? 0 : frozen.memory.values[at];
    ASSERT_NEAR(goal[at], frozen.values.values[at] + lost, 1e-5) << at;
  }
}

TEST_P(LossyUpdates, ThatDoNotFollowChangeNothing) {
  auto lead = make_lead();
  CodedUpdate coded;
  CommitRecord record = record_for(lead, coded);
  record.chain_after ^= 1;
  const Digest before = lead.replica().state_hash();

  EXPECT_FALSE(lead.advance(record, coded));
  record.chain_after ^= 1;
  record.chain_before ^= 1;
  EXPECT_FALSE(lead.advance(record, coded));

  EXPECT_EQ(lead.replica().state_hash(), before);
}

TEST_P(LossyUpdates, NeedTheirMemoryToGoOn) {
  auto lead = make_lead();
  FrozenReplica forgetful = lead.freeze();
  forgetful.memory = {};

  EXPECT_EQ(lead.thaw(forgetful), GetParam() == Lossy::kNone);
}

INSTANTIATE_TEST_SUITE_P(Codecs, LossyUpdates, testing::ValuesIn(kOfUpdates),
                         [](const auto& tested) { return std::string(lossy_name(tested.param)); });

}  // namespace
}  // namespace wide::engine
