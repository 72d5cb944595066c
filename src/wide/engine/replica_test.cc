#include "wide/engine/replica.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace wide::engine {
namespace {

class ReplicaTest : public testing::Test {
 protected:
  ReplicaTest() {
    job_.model.kind = ModelKind::kMlp;
    job_.model.layers = {10, 20, 10};
    job_.model.batch_norm = true;
    genesis_ = make_genesis(job_, {1000, 1000, {10}, 10, {}});
    layout_ = genesis_.layout;
  }

  Replica make_replica() const { return Replica(job_, genesis_, 7); }

  StepUpdate update_for(const Replica& replica, float value) {
    StepUpdate update;
    update.step = replica.step();
    update.values = take_floats(buffers_, layout_.value_count());
    std::ranges::fill(update.values.values, value);
    update.scalars = step_scalars(job_.train, update.step, 0,
                                  update.values.values.first(layout_.parameter_count));
    update.chain_after = chain_next(replica.chain(), update.step, update.scalars, update.values);
    return update;
  }

  Job job_;
  Genesis genesis_;
  Layout layout_;
  BufferPool buffers_;
};

TEST_F(ReplicaTest, AppliesUpdatesAndTakesBuffersAsTheyCome) {
  auto replica = make_replica();
  const float before = replica.weights()->values.values[0];

  ASSERT_TRUE(replica.apply(update_for(replica, 0.5f)));

  EXPECT_EQ(replica.step(), 1u);
  EXPECT_LT(replica.weights()->values.values[0], before);
  EXPECT_EQ(replica.weights()->values.values[layout_.parameter_count], 0.5f);
}

TEST_F(ReplicaTest, NeverDriftsFromAnother) {
  auto one = make_replica();
  auto other = make_replica();
  for (int i = 0; i < 20; ++i) {
    const auto update = update_for(one, 0.1f * static_cast<float>(i) - 1);
    ASSERT_TRUE(one.apply(update));
    ASSERT_TRUE(other.apply(update));
  }

  EXPECT_EQ(one.state_hash(), other.state_hash());
  EXPECT_EQ(one.weights_sha256(), other.weights_sha256());
  EXPECT_EQ(one.chain(), other.chain());
}

TEST_F(ReplicaTest, RefusesWrongChainStepAndSizeUnchanged) {
  auto replica = make_replica();
  ASSERT_TRUE(replica.apply(update_for(replica, 0.5f)));
  const auto hash = replica.state_hash();

  auto damaged = update_for(replica, 0.5f);
  damaged.values.values[3] = 0.25f;
  auto rescaled = update_for(replica, 0.5f);
  rescaled.scalars.lr *= 2;
  auto early = update_for(replica, 0.5f);
  early.step += 1;
  auto brief = update_for(replica, 0.5f);
  brief.values.values = brief.values.values.first(5);

  EXPECT_FALSE(replica.apply(damaged));
  EXPECT_FALSE(replica.apply(rescaled));
  EXPECT_FALSE(replica.apply(early));
  EXPECT_FALSE(replica.apply(brief));
  EXPECT_EQ(replica.state_hash(), hash);
}

TEST_F(ReplicaTest, KeepsVersionsThatAreHeld) {
  auto replica = make_replica();
  const Weights held = replica.weights();
  const std::vector<float> copy(held->values.values.begin(), held->values.values.end());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(replica.apply(update_for(replica, 0.5f)));

  EXPECT_TRUE(std::ranges::equal(held->values.values, copy));
  EXPECT_EQ(held->step, 0u);
}

TEST_F(ReplicaTest, ForeseesAVersionAndMovesOnlyWhenItComes) {
  auto replica = make_replica();
  auto other = make_replica();
  ASSERT_TRUE(replica.apply(update_for(replica, 0.25f)));
  ASSERT_TRUE(other.apply(update_for(other, 0.25f)));
  const auto update = update_for(replica, 0.5f);
  const auto before = replica.state_hash();

  const Weights foreseen = replica.foresee(update);

  EXPECT_EQ(replica.state_hash(), before);
  EXPECT_EQ(foreseen->step, 2u);
  EXPECT_EQ(foreseen->chain, update.chain_after);
  ASSERT_TRUE(replica.apply(update));
  ASSERT_TRUE(other.apply(update));
  EXPECT_EQ(replica.weights(), foreseen) << "not computed again";
  EXPECT_EQ(replica.state_hash(), other.state_hash());
}

TEST_F(ReplicaTest, MovesToWhatItForesawByItsChainAlone) {
  auto replica = make_replica();
  auto other = make_replica();
  const auto update = update_for(replica, 0.5f);
  EXPECT_FALSE(replica.has_come(0, update.chain_after)) << "nothing is foreseen";
  replica.foresee(update);
  const auto before = replica.state_hash();

  EXPECT_FALSE(replica.has_come(1, update.chain_after));
  EXPECT_FALSE(replica.has_come(0, update.chain_after ^ 1));
  EXPECT_EQ(replica.state_hash(), before);
  EXPECT_TRUE(replica.has_come(0, update.chain_after));

  ASSERT_TRUE(other.apply(update));
  EXPECT_EQ(replica.state_hash(), other.state_hash());
}

TEST_F(ReplicaTest, ForgetsWhatItForesawWhenAnotherUpdateComes) {
  auto replica = make_replica();
  auto other = make_replica();
  replica.foresee(update_for(replica, 0.5f));
  const auto update = update_for(replica, -0.5f);

  ASSERT_TRUE(replica.apply(update));
  ASSERT_TRUE(other.apply(update));

  EXPECT_EQ(replica.state_hash(), other.state_hash());
  const auto next = update_for(other, 0.5f);
  ASSERT_TRUE(replica.apply(next));
  ASSERT_TRUE(other.apply(next));
  EXPECT_EQ(replica.state_hash(), other.state_hash());
}

TEST_F(ReplicaTest, ForeseesOneVersionBehindAnother) {
  auto replica = make_replica();
  auto other = make_replica();
  std::vector<StepUpdate> updates;
  for (const float value : {0.5f, -0.25f, 1.0f}) {
    updates.push_back(update_for(other, value));
    ASSERT_TRUE(other.apply(updates.back()));
    EXPECT_EQ(replica.foresee(updates.back())->chain, other.chain());
  }
  EXPECT_EQ(replica.step(), 0u);
  EXPECT_EQ(replica.foremost()->step, 3u);
  EXPECT_EQ(replica.foreseen_at(2)->step, 2u);
  EXPECT_EQ(replica.foreseen_at(4), nullptr);

  for (const auto& update : updates) ASSERT_TRUE(replica.apply(update));

  EXPECT_EQ(replica.state_hash(), other.state_hash());
  EXPECT_EQ(replica.foremost(), replica.weights());
}

TEST_F(ReplicaTest, ForgetsAllThatFollowsFromWhatDidNotCome) {
  auto replica = make_replica();
  auto foreseen = make_replica();
  for (const float value : {0.5f, -0.25f}) {
    const auto update = update_for(foreseen, value);
    replica.foresee(update);
    ASSERT_TRUE(foreseen.apply(update));
  }

  ASSERT_TRUE(replica.apply(update_for(replica, 0.75f)));

  EXPECT_EQ(replica.foremost(), replica.weights());
  EXPECT_EQ(replica.foreseen_at(2), nullptr);
}

TEST_F(ReplicaTest, TakesTurnsBetweenTwoBuffers) {
  auto replica = make_replica();
  const auto* genesis = replica.weights()->values.values.data();
  ASSERT_TRUE(replica.apply(update_for(replica, 0.5f)));
  const auto* first = replica.weights()->values.values.data();
  ASSERT_TRUE(replica.apply(update_for(replica, 0.5f)));

  EXPECT_NE(genesis, first);
  EXPECT_EQ(replica.weights()->values.values.data(), genesis);
}

TEST_F(ReplicaTest, ContinuesFromSnapshotWithTheSameBits) {
  auto replica = make_replica();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(replica.apply(update_for(replica, 0.5f)));
  const auto snapshot = snapshot_of(replica.freeze(), buffers_);
  auto joined = make_replica();

  ASSERT_TRUE(joined.restore(snapshot));
  const auto update = update_for(replica, -0.25f);
  ASSERT_TRUE(replica.apply(update));
  ASSERT_TRUE(joined.apply(update));

  EXPECT_EQ(snapshot.state.size(), state_count(job_, layout_));
  EXPECT_EQ(joined.state_hash(), replica.state_hash());
}

TEST_F(ReplicaTest, RefusesDamagedSnapshotUnchanged) {
  auto replica = make_replica();
  ASSERT_TRUE(replica.apply(update_for(replica, 0.5f)));
  auto snapshot = snapshot_of(replica.freeze(), buffers_);
  EXPECT_EQ(snapshot.state_hash, replica.state_hash());
  snapshot.state.values.back() += 1;
  auto joined = make_replica();
  const auto hash = joined.state_hash();

  EXPECT_FALSE(joined.restore(snapshot));
  snapshot.state.values = snapshot.state.values.first(3);
  EXPECT_FALSE(joined.restore(snapshot));
  EXPECT_EQ(joined.state_hash(), hash);
}

TEST(Chain, DependsOnEverything) {
  BufferPool buffers;
  auto values = take_floats(buffers, 10);
  std::ranges::fill(values.values, 1.0f);
  const StepScalars scalars{.lr = 0.5f};
  const auto link = chain_next(1, 2, scalars, values);

  EXPECT_EQ(chain_next(1, 2, scalars, values), link);
  EXPECT_NE(chain_next(2, 2, scalars, values), link);
  EXPECT_NE(chain_next(1, 3, scalars, values), link);
  EXPECT_NE(chain_next(1, 2, {.lr = 0.25f}, values), link);
  values.values[9] = 2;
  EXPECT_NE(chain_next(1, 2, scalars, values), link);
  EXPECT_NE(chain_genesis(sha256("a"), sha256("b")), chain_genesis(sha256("b"), sha256("a")));
}

TEST_F(ReplicaTest, FrozenStaysAsItWas) {
  job_.train.optimizer = OptimizerKind::kAdam;
  auto replica = make_replica();
  auto plain = make_replica();
  replica.apply(update_for(replica, 0.25f));
  plain.apply(update_for(plain, 0.25f));
  const Digest before = replica.state_hash();

  const FrozenReplica frozen = replica.freeze();
  for (float value : {0.5f, -0.125f}) {
    replica.apply(update_for(replica, value));
    plain.apply(update_for(plain, value));
  }

  EXPECT_EQ(replica.state_hash(), plain.state_hash()) << "being held changes nothing";
  auto other = make_replica();
  ASSERT_TRUE(other.thaw(frozen));
  EXPECT_EQ(other.state_hash(), before);
}

TEST_F(ReplicaTest, ThawRefusesAnotherShape) {
  auto replica = make_replica();
  FrozenReplica frozen = replica.freeze();
  frozen.values.values = frozen.values.values.subspan(1);

  EXPECT_FALSE(replica.thaw(frozen));
}

}  // namespace
}  // namespace wide::engine
