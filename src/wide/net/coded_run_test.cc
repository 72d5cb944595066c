// Pools and nodes in one process: lossless codes change how many bytes travel, and nothing else.

#include <gtest/gtest.h>

#include "wide/net/test_peers.h"

namespace wide::net {
namespace {

using engine::LosslessPlan;

engine::Job job_with(LosslessPlan plan) {
  engine::Job job = small_job(6);
  job.model.layers = {10, 700, 30, 10};  // some 30,000 floats
  job.codec.lossless = plan;
  return job;
}

struct Trained {
  std::string weights;
  engine::Summary summary;
};

Trained train(LosslessPlan plan) {
  PoolOnThread pool({.job = job_with(plan)});
  NodeOnThread first(pool.address());
  NodeOnThread second(pool.address());
  EXPECT_EQ(pool.end(), std::nullopt);
  return {pool.weights(), pool.summary()};
}

std::uint64_t travelled(const engine::Summary& summary) {
  return summary.bytes_sent + summary.bytes_received;
}

TEST(CodedRun, EveryCodecTrainsTheSameWeights) {
  const Trained plain = train(LosslessPlan::kNone);
  EXPECT_EQ(plain.summary.raw_bytes, travelled(plain.summary));
  EXPECT_EQ(plain.summary.encode_ns, 0u);

  for (const auto plan : {LosslessPlan::kLz4, LosslessPlan::kZstd, LosslessPlan::kZlib,
                          LosslessPlan::kZlib9, LosslessPlan::kPlanes, LosslessPlan::kAuto}) {
    EXPECT_EQ(train(plan).weights, plain.weights) << static_cast<int>(plan);
  }
}

TEST(CodedRun, CountsBytesBeforeAndAfter) {
  const auto summary = train(LosslessPlan::kPlanes).summary;

  EXPECT_LT(travelled(summary), 0.97 * static_cast<double>(summary.raw_bytes));
  EXPECT_GT(summary.encode_ns, 0u);
  ASSERT_FALSE(summary.nodes.empty());
  for (const auto& node : summary.nodes) {
    EXPECT_LT(node.bytes_sent + node.bytes_received, node.raw_bytes) << node.name;
  }
}

}  // namespace
}  // namespace wide::net
