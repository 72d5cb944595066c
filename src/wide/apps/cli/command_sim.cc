// wide sim: whole runs in virtual time, with everything going wrong that can.

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <mutex>
#include <thread>

#include <nlohmann/json.hpp>

#include "wide/apps/cli/commands.h"
#include "wide/apps/cli/figures.h"
#include "wide/apps/cli/report_flags.h"
#include "wide/apps/edge/this_machine.h"
#include "wide/base/log.h"
#include "wide/sim/tally.h"

namespace wide::apps {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kProgressEvery = std::chrono::seconds(5);

struct Seeds {
  std::uint64_t first = 1;
  std::uint64_t last = 100;
};

// "17", "1..2000"
Seeds parse_seeds(const std::string& text) {
  const auto number = [&](std::string_view part) {
    std::uint64_t value = 0;
    const auto [end, failed] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (failed != std::errc() || end != part.data() + part.size()) {
      throw Failure(Errc::kUsage, fmt::format("--seeds {}: write A..B, two whole numbers", text));
    }
    return value;
  };
  const std::string_view whole(text);
  const auto dots = whole.find("..");
  if (dots == std::string_view::npos) return {number(whole), number(whole)};
  const Seeds seeds{number(whole.substr(0, dots)), number(whole.substr(dots + 2))};
  if (seeds.last < seeds.first) {
    throw Failure(Errc::kUsage, fmt::format("--seeds {}: the first is above the last", text));
  }
  return seeds;
}

// Each seed is a world of its own: any number of threads takes the next one, and the next.
class Batch final {
 public:
  explicit Batch(const Seeds& seeds) : seeds_(seeds), next_(seeds.first) {}

  void run(std::uint64_t threads) {
    std::vector<std::thread> workers;
    for (std::uint64_t i = 1; i < threads; ++i) workers.emplace_back([this] { work(); });
    work();
    for (auto& worker : workers) worker.join();
    std::ranges::sort(tally_.broken, {}, &sim::SimReport::seed);
  }

  const sim::SimTally& tally() const { return tally_; }
  double real_seconds() const {
    return std::chrono::duration<double>(Clock::now() - begun_at_).count();
  }

 private:
  void work() {
    for (auto seed = next_++; seed <= seeds_.last; seed = next_++) take(sim::run_seed(seed));
  }
  void take(sim::SimReport report) {
    const std::lock_guard lock(mutex_);
    if (!report.violations.empty()) {
      log::info("seed broke a promise: {}; repeat it with: {}", report.violations.front(),
                sim::repeat_line(report.seed));
    }
    tally_.add(std::move(report));
    if (Clock::now() - said_at_ < kProgressEvery) return;
    said_at_ = Clock::now();
    log::info("simulating seeds={} of={} steps={} faults={} broken={}", tally_.seeds,
              seeds_.last - seeds_.first + 1, tally_.steps, tally_.faults.total(),
              tally_.broken.size());
  }

  Seeds seeds_;
  std::atomic<std::uint64_t> next_;
  std::mutex mutex_;
  sim::SimTally tally_;
  Clock::time_point begun_at_ = Clock::now();
  Clock::time_point said_at_ = Clock::now();
};

nlohmann::ordered_json sim_json(const Batch& batch) {
  const sim::SimTally& tally = batch.tally();
  const double simulated = 2 * seconds(tally.simulated);  // each seed runs twice
  const double real = batch.real_seconds();
  nlohmann::ordered_json faults = nlohmann::ordered_json::object();
  for (std::size_t kind = 0; kind < sim::kFaultCount; ++kind) {
    const auto fault = static_cast<sim::Fault>(kind);
    faults[std::string(sim::fault_name(fault))] = tally.faults.of(fault);
  }
  auto violations = nlohmann::ordered_json::array();
  for (const auto& report : tally.broken) {
    violations.push_back({{"seed", report.seed},
                          {"promises", report.violations},
                          {"repeat", sim::repeat_line(report.seed)}});
  }
  return {{"seeds", tally.seeds},
          {"runs", tally.runs},
          {"steps", tally.steps},
          {"commits", tally.commits},
          {"events", tally.events},
          {"faults_total", tally.faults.total()},
          {"faults", faults},
          {"node_crashes", tally.node_crashes()},
          {"pool_crashes", tally.pool.crashes},
          {"power_cuts", tally.pool.power_cuts},
          {"recoveries", tally.pool.recoveries},
          {"simulated_seconds", simulated},
          {"real_seconds", real},
          {"ratio", simulated / std::max(real, 1e-9)},
          {"violations", violations}};
}

void print_for_people(const Batch& batch) {
  const sim::SimTally& tally = batch.tally();
  const double simulated = 2 * seconds(tally.simulated);
  fmt::print("seeds        {}, each twice with the same trace\n", grouped(tally.seeds));
  fmt::print("steps        {}, {} commits\n", grouped(tally.steps), grouped(tally.commits));
  fmt::print("faults       {}: {} pool crashes ({} power cuts), {} node crashes, …\n",
             grouped(tally.faults.total()), grouped(tally.pool.crashes),
             grouped(tally.pool.power_cuts), grouped(tally.node_crashes()));
  fmt::print("time         {} simulated in {} ({:.0f} to 1)\n", clock_span(simulated),
             clock_span(batch.real_seconds()), simulated / std::max(batch.real_seconds(), 1e-9));
  for (const auto& report : tally.broken) {
    for (const auto& promise : report.violations) {
      fmt::print("BROKEN       seed {}: {}\n", report.seed, promise);
    }
    fmt::print("repeat       {}\n", sim::repeat_line(report.seed));
  }
  if (tally.broken.empty()) fmt::print("promises     all kept\n");
}

ExitCode tell_story(const Seeds& seeds) {
  const auto report =
      sim::run_seed(seeds.first, [](const std::string& line) { fmt::print("{}\n", line); });
  for (const auto& promise : report.violations) fmt::print("BROKEN       {}\n", promise);
  return report.violations.empty() ? ExitCode::kOk : ExitCode::kFailure;
}

}  // namespace

ExitCode run_sim(const Invocation& invocation) {
  std::string text = "1..100";
  std::optional<std::uint64_t> jobs;
  bool story = false;
  ReportFlags flags;
  CommandLine line(
      "wide", "sim",
      "Runs pools and nodes in virtual time, on a network and a disk that fail in every "
      "way they can, and checks what is promised of them. One seed is one history.",
      "  wide sim --seeds 1..2000\n  wide sim --seeds 17 --story\n");
  line.text("--seeds", text, "which histories: A..B");
  line.whole("--jobs", jobs, "so many at a time; all cores unless told otherwise");
  line.flag("--story", story, "tell the first seed's history, line by line");
  flags.declare(line, invocation.environment);
  if (!line.parse(invocation.arguments)) return ExitCode::kOk;
  flags.apply();

  const Seeds seeds = parse_seeds(text);
  if (story) return tell_story(seeds);
  Batch batch(seeds);
  batch.run(std::clamp<std::uint64_t>(jobs.value_or(cores_available()), 1, 256));
  if (flags.json) {
    print_json(sim_json(batch));
  } else {
    print_for_people(batch);
  }
  return batch.tally().broken.empty() ? ExitCode::kOk : ExitCode::kFailure;
}

}  // namespace wide::apps
