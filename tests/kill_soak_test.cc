// make soak: runs whose nodes and pools are killed again and again, for as long as
// WIDE_SOAK_SECONDS says. Several at a time; each ends with the weights of a calm run, and the next
// begins. A seed that fails is printed; WIDE_SOAK_SEED starts there again.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <thread>

#include "mayhem.h"

namespace wide::tests {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRunsAtATime = 2;
constexpr int kStrikesPerRun = 300;

std::uint64_t asked(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

Clock::time_point soak_end() {
  return Clock::now() + std::chrono::seconds(asked("WIDE_SOAK_SECONDS", 60));
}

struct Tally {
  std::mutex mutex;
  std::uint64_t runs = 0;
  std::uint64_t node_kills = 0;
  std::uint64_t pool_kills = 0;
  std::vector<double> comebacks;  // seconds from a pool's start to its listening again

  void add(const Mayhem& mayhem) {
    const std::lock_guard lock(mutex);
    ++runs;
    node_kills += static_cast<std::uint64_t>(mayhem.node_kills);
    pool_kills += static_cast<std::uint64_t>(mayhem.pool_kills);
  }
  void came_back(Seconds span) {
    const std::lock_guard lock(mutex);
    comebacks.push_back(span.count());
  }
};

// One run, to its end. Its job is drawn from the seed, too.
void one_run(const Folder& folder, std::uint64_t seed, Tally& tally) {
  std::mt19937 dice(static_cast<unsigned>(seed));
  const std::string name = "soak" + std::to_string(seed);
  const char* exact = dice() % 2 == 0 ? "bits" : "ledger";
  const std::string job = folder.write(name + ".toml", stub_job(8 + dice() % 9, 5000, exact));
  const std::string expected = calm_hash(folder, job);
  LongRun run(job, folder.file(name), {"--checkpoint-seconds", dice() % 2 == 0 ? "0.2" : "5"});
  Nodes nodes(run.address(), {"--delay-us", "6000", "--quiet"});
  Mayhem mayhem(run, nodes, static_cast<unsigned>(seed));
  run.open_and_listen();
  while (mayhem.node_kills + mayhem.pool_kills < kStrikesPerRun && !testing::Test::HasFailure()) {
    const int before = mayhem.pool_kills;
    mayhem.strike(true, true);
    const auto start = Clock::now();
    if (mayhem.pool_kills > before && dice() % 2 == 0 && run.listens()) {
      tally.came_back(Clock::now() - start);
    }
  }
  EXPECT_TRUE(run.listens()) << run.pool().err();
  EXPECT_EQ(hash_of(end_quickly(run, nodes)), expected) << "seed " << seed;
  const Json verdict = run.verify();
  EXPECT_EQ(verdict.value("ok", false), true) << "seed " << seed << ": " << verdict;
  std::filesystem::remove_all(run.folder());
  tally.add(mayhem);
}

TEST(KillSoak, RunsEndWithTheBitsOfCalmOnes) {
  const auto end = soak_end();
  const Folder folder;
  std::atomic<std::uint64_t> seed = asked("WIDE_SOAK_SEED", std::random_device{}());
  const std::uint64_t first = seed;
  Tally tally;
  std::vector<std::thread> workers;

  for (int i = 0; i < kRunsAtATime; ++i) {
    workers.emplace_back([&] {
      while (Clock::now() < end && !HasFailure()) one_run(folder, seed++, tally);
    });
  }
  for (auto& worker : workers) worker.join();

  std::ranges::sort(tally.comebacks);
  const auto share = [&](double part) {
    const auto index = static_cast<std::size_t>(part * static_cast<double>(tally.comebacks.size()));
    return tally.comebacks.empty() ? 0.0
                                   : tally.comebacks[std::min(index, tally.comebacks.size() - 1)];
  };
  std::cout << "seeds " << first << ".." << seed << ": " << tally.runs << " runs, "
            << tally.node_kills << " node kills, " << tally.pool_kills
            << " pool kills; listening again after " << share(0.5) << " s (median), " << share(0.99)
            << " s (99th percentile)\n";
  EXPECT_GT(tally.runs, 0u);
}

// As long as a machine that was put to sleep by mistake.
TEST(KillSoak, AMinuteOfStandingStillChangesNothing) {
  if (asked("WIDE_SOAK_SECONDS", 60) < 60) GTEST_SKIP() << "takes longer than there is time";
  const Folder folder;
  const std::string job = folder.write("job.toml", stub_job(16, 20000));
  const std::string expected = calm_hash(folder, job);
  LongRun run(job, folder.file("run"));
  run.open_and_listen();
  Nodes nodes(run.address(), {"--delay-us", "3000", "--quiet"});
  nodes.fill_up(3);
  ASSERT_TRUE(run.pool().wait_for("node joined", 3));

  nodes[0].signal(SIGSTOP);
  ASSERT_EQ(run.pool().wait(Seconds(60)), -1);
  nodes[0].signal(SIGCONT);
  ASSERT_TRUE(run.pool().wait_for("node joined name=n1 ", 2)) << run.pool().err();
  run.pool().signal(SIGSTOP);
  ASSERT_EQ(run.pool().wait(Seconds(60)), -1);
  run.pool().signal(SIGCONT);
  ASSERT_TRUE(run.pool().wait_for("node joined ", 4)) << run.pool().err();

  EXPECT_EQ(hash_of(end_quickly(run, nodes)), expected);
}

}  // namespace
}  // namespace wide::tests
