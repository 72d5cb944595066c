// make soak: random histories in virtual time, one after another, for as long as it is told
// (WIDE_SOAK_SECONDS). Each must end with the bits of a calm run; a failing one prints its seed,
// and WIDE_SOAK_SEED=… starts there again.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <random>

#include "wide/sim/sim_run.h"

namespace wide::tests {
namespace {

using Clock = std::chrono::steady_clock;

sim::SimOptions drawn_from(std::uint64_t seed) {
  std::mt19937_64 dice(seed);
  const auto below = [&](std::uint64_t bound) { return dice() % bound; };
  const double chances[] = {0, 0.005, 0.02, 0.1};
  sim::SimOptions options;
  options.seed = seed;
  options.job.name = "soak";
  options.job.model.kind = engine::ModelKind::kMlp;
  options.job.model.layers = {6, 5, 3};
  options.job.model.batch_norm = below(2) == 0;
  options.job.train.batch = static_cast<std::uint32_t>(2 + below(40));
  options.job.train.units_per_step = static_cast<std::uint32_t>(2 + below(40));
  options.job.train.block_units =
      static_cast<std::uint32_t>(1 + below(options.job.train.units_per_step));
  options.job.train.steps = 1 + below(12);
  options.job.eval.every = below(4);
  options.space.train_count = 100;
  options.space.eval_count = below(60);
  options.space.sample_shape = {6};
  options.space.class_count = 3;
  options.space.sha256 = sha256("soak");
  options.nodes = static_cast<std::uint32_t>(1 + below(12));
  options.slots = static_cast<std::uint16_t>(1 + below(4));
  options.lease_blocks = static_cast<Block>(below(5));
  options.kill_chance = chances[below(4)];
  options.stall_chance = chances[below(3)];
  options.corrupt_chance = chances[below(3)];
  options.cut_chance = chances[below(3)];
  return options;
}

Digest calm_state(sim::SimOptions options) {
  options.nodes = options.slots = 1;
  options.lease_blocks = 1;
  options.kill_chance = options.stall_chance = options.corrupt_chance = options.cut_chance = 0;
  return sim::simulate(options).summary.state_hash;
}

TEST(Soak, EveryHistoryEndsWithTheBitsOfACalmOne) {
  const char* asked = std::getenv("WIDE_SOAK_SECONDS");
  const auto end = Clock::now() + std::chrono::seconds(asked != nullptr ? std::atoi(asked) : 60);
  const char* from = std::getenv("WIDE_SOAK_SEED");
  const std::uint64_t first =
      from != nullptr ? std::strtoull(from, nullptr, 10) : std::random_device{}();
  std::uint64_t seed = first;
  std::uint64_t steps = 0;
  std::uint64_t faults = 0;
  Duration simulated{};

  for (; Clock::now() < end; ++seed) {
    const sim::SimOptions options = drawn_from(seed);
    const sim::SimOutcome outcome = sim::simulate(options);
    ASSERT_TRUE(outcome.finished) << "seed " << seed << ", step " << outcome.summary.steps << " of "
                                  << options.job.train.steps << " after " << outcome.events
                                  << " events, " << outcome.kills << " kills, " << outcome.cuts
                                  << " cuts, " << outcome.summary.resyncs << " resyncs, "
                                  << seconds(outcome.simulated) << " virtual seconds";
    ASSERT_EQ(outcome.violations, std::vector<std::string>{}) << "seed " << seed;
    ASSERT_EQ(outcome.summary.audits_different, 0u) << "seed " << seed;
    ASSERT_EQ(outcome.summary.state_hash, calm_state(options)) << "seed " << seed;
    steps += outcome.summary.steps;
    faults += outcome.kills + outcome.cuts + outcome.stalls + outcome.summary.resyncs;
    simulated += outcome.simulated;
  }

  fmt::print("seeds {}..{}: {} histories, {} steps, {} faults, {:.0f} s of virtual time\n", first,
             seed, seed - first, steps, faults, seconds(simulated));
}

}  // namespace
}  // namespace wide::tests
