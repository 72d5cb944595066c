// Whole runs over bad networks: what passes between nodes and pool is delayed, cut into single
// bytes, stalled, damaged, repeated, broken off. The weights are those of a calm run.

#include "fleet.h"

namespace wide::tests {
namespace {

std::uint64_t fault_count(const Json& counts, const std::vector<std::string>& kinds) {
  std::uint64_t sum = 0;
  for (const auto& kind : kinds) sum += counts["faults"].value(kind, std::uint64_t{0});
  return sum;
}

TEST(ChaosRun, DamageOnTheOnlyWayChangesNothing) {
  const Folder folder;
  const std::string job = folder.write("job.toml", stub_job(16, 400));
  const std::string expected = calm_hash(folder, job);
  PoolProcess pool(folder, job);
  BadNetwork network(pool.address(), {"--seed", "7", "--flip-every", "150000", "--duplicate-every",
                                      "250000", "--truncate-every", "400000", "--half-close-every",
                                      "400000", "--reset-every", "400000"});
  Nodes nodes(network.address());
  for (int i = 0; i < 4; ++i) nodes.add();

  const Json summary = pool.end();
  const Json counts = network.end();

  EXPECT_EQ(hash_of(summary), expected);
  EXPECT_GT(fault_count(counts, {"flips", "duplicates"}), 5u) << counts;
  EXPECT_GT(fault_count(counts, {"truncations", "half_closes", "resets"}), 5u) << counts;
  EXPECT_GT(counts["connections"], 8) << "nodes came back after every break";
}

TEST(ChaosRun, SlowAndChoppyLinksChangeNothing) {
  const Folder folder;
  const std::string job = folder.write("job.toml", stub_job(16, 300));
  const std::string expected = calm_hash(folder, job);
  PoolProcess pool(folder, job);
  BadNetwork bytes(pool.address(), {"--chunk-bytes", "1"});
  BadNetwork late(pool.address(), {"--delay-ms", "5", "--jitter-ms", "5"});
  BadNetwork halting(pool.address(), {"--stall-every", "0.5", "--stall-ms", "200"});
  BadNetwork narrow(pool.address(), {"--rate-bytes", "400000"});
  Nodes by_bytes(bytes.address());
  Nodes by_delay(late.address());
  Nodes by_stalls(halting.address());
  Nodes by_rate(narrow.address());
  for (Nodes* nodes : {&by_bytes, &by_delay, &by_stalls, &by_rate}) nodes->add();

  const Json summary = pool.end();

  EXPECT_EQ(hash_of(summary), expected);
  for (BadNetwork* network : {&bytes, &late, &halting, &narrow}) {
    const Json counts = network->end();
    EXPECT_EQ(counts["connections"], 1) << "a slow link is no dead link: " << counts;
    EXPECT_GT(counts["bytes_up"], 1000) << counts;
  }
}

}  // namespace
}  // namespace wide::tests
