#include "wide/apps/cli/bench/seed/seed.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>

#include "wide/apps/cli/bench/seed/seed_job.h"
#include "wide/apps/cli/bench/seed/seed_report.h"
#include "wide/apps/cli/bench/seed/techniques.h"
#include "wide/apps/cli/bench/turns.h"
#include "wide/base/error.h"
#include "wide/base/log.h"

namespace wide::apps::bench {

namespace {

constexpr int kRounds = 7;
constexpr std::size_t kNodes = 10;
constexpr int kTriesForAllNodes = 5;
constexpr double kBriefSeconds = 3;  // less is a try-out: one round, and no techniques
constexpr double kMemoryBytes2024 = 767e6;

using Json = nlohmann::json;

// One way to run it, and what came out of each round.
struct Setting {
  std::string name;
  SeedJob job{};
  int nodes = 10;
  Goal goal{};
  bool against_2024 = false;  // the ratio is to its speed, not to the slots alone
  double longer = 1;          // a round, than those of the others
  std::vector<double> batches{};
  std::vector<double> alone{};
  std::vector<double> ratios{};
  Json last{};

  // Of each round, whatever its ratio is to.
  std::vector<double> efficiencies() const {
    std::vector<double> found;
    for (std::size_t i = 0; i < alone.size(); ++i) found.push_back(batches[i] / alone[i]);
    return found;
  }
};

std::vector<Setting> settings() {
  SeedJob late;
  late.delay = 1;
  SeedJob wide_units;
  wide_units.batch = 1024;
  SeedJob clothes;
  clothes.kind = SeedJob::Kind::kClothes;
  return {
      // The experiment itself takes 30 s; in its first moments each of the ten has a turn.
      {.name = "10 nodes, batches of 32, delay 0", .goal = {0.60, 1.0}, .longer = 2},
      {.name = "10 nodes, batches of 32, delay 1", .job = late, .goal = {0.75, 1.0}, .longer = 2},
      {.name = "10 nodes, units of 1,024",
       .job = wide_units,
       .goal = {70.0, {}},
       .against_2024 = true},
      // Half a hundred steps in all: its first one, when nodes still come, would weigh too much.
      {.name = "Fashion-MNIST cnn, 2 nodes",
       .job = clothes,
       .nodes = 2,
       .goal = {0.95, 1.0},
       .longer = 3},
  };
}

void check_learning(const std::string& name, const Json& summary) {
  const double first = summary.at("loss_first").get<double>();
  const double last = summary.at("loss_last").get<double>();
  if (last < first && summary.at("reproducible").get<bool>()) return;
  throw Failure(Errc::kComputeFailed,
                fmt::format("{}: the loss went from {:.4f} to {:.4f}: that is no training", name,
                            first, last));
}

// The same steps by one node with one slot, a block at a time.
void check_hash(const std::string& name, const SeedJob& job, const Json& summary,
                const Environment& environment) {
  const auto alone = run_seed(job,
                              {"--nodes", "1", "--lease-blocks", "1", "--steps",
                               fmt::to_string(summary.at("steps").get<std::uint64_t>())},
                              environment);
  if (alone.at("weights_sha256") == summary.at("weights_sha256")) return;
  throw Failure(Errc::kComputeFailed, name + ": one node alone comes to other weights");
}

void run_once(Setting& setting, double seconds, const Environment& environment) {
  setting.last = run_seed(setting.job,
                          {"--nodes", fmt::to_string(setting.nodes), "--seconds",
                           fmt::format("{:.3f}", seconds), "--efficiency"},
                          environment);
  check_learning(setting.name, setting.last);
  const double speed =
      setting.last.at("batches_per_second").get<double>() * setting.job.batches_per_unit();
  const double alone = speed / setting.last.at("efficiency").get<double>();
  setting.batches.push_back(speed);
  setting.alone.push_back(alone);
  setting.ratios.push_back(setting.against_2024 ? speed / kBatchesPerSecond2024 : speed / alone);
}

Row row_of(const Setting& setting) {
  Row row;
  row.name = setting.name;
  row.measured = median(setting.batches);
  row.unit = "batches/s";
  row.against = setting.against_2024 ? "812 batches/s of 2024" : "its slots alone";
  row.ratio = median(setting.ratios);
  row.goal = setting.goal;
  if (setting.against_2024) row.goal->limit = median(setting.alone) / kBatchesPerSecond2024;
  row.more["slots_alone"] = median(setting.alone);
  row.more["efficiency"] = row.measured / median(setting.alone);
  row.more["rounds"] = setting.efficiencies();
  row.more["steps"] = setting.last.at("steps");
  row.more["loss_first"] = setting.last.at("loss_first");
  row.more["loss_last"] = setting.last.at("loss_last");
  row.more["weights_sha256"] = setting.last.at("weights_sha256");
  return row;
}

// Nothing is timed here, so all at once.
void check_hashes(const std::vector<Setting>& all, const Environment& environment) {
  std::vector<std::future<void>> checks;
  for (const auto& setting : all) {
    checks.push_back(std::async(std::launch::async, [&setting, &environment] {
      check_hash(setting.name, setting.job, setting.last, environment);
    }));
  }
  for (auto& check : checks) check.get();
}

// In turns, so that a noisy moment meets all of them.
void add_speeds(Report& report, double seconds, int rounds, const Environment& environment) {
  auto all = settings();
  for (int round = 0; round < rounds; ++round) {
    for (auto& setting : all) {
      run_once(setting, seconds * setting.longer, environment);
      log::info("measured {} round={} batches_per_second={:.0f} ratio={:.3f}", setting.name,
                round + 1, setting.batches.back(), setting.ratios.back());
    }
  }
  check_hashes(all, environment);
  for (const auto& setting : all) report.rows.push_back(row_of(setting));
}

// On a busy machine a short run may end before its last node has joined, and says nothing of ten:
// then it is run again, twice as long.
Json run_with_all_nodes(double seconds, const Environment& environment) {
  for (int tries_left = kTriesForAllNodes;; seconds *= 2) {
    Json summary = run_seed(
        {}, {"--nodes", fmt::to_string(kNodes), "--seconds", fmt::format("{:.3f}", seconds)},
        environment);
    if (summary.at("nodes").size() == kNodes || --tries_left == 0) return summary;
  }
}

// The long run, with all that the system of 2024 reported of its own.
Row whole_row(const Json& summary) {
  Row row;
  row.name = "the experiment of 2024";
  row.measured = summary.at("batches_per_second").get<double>();
  row.unit = "batches/s";
  row.against = "812 batches/s of 2024";
  row.ratio = row.measured / kBatchesPerSecond2024;
  row.more["summary"] = summary;
  return row;
}

Row memory_row(std::string name, const Json& summary, double target) {
  Row row;
  row.name = std::move(name);
  row.measured = summary.at("memory_bytes_peak").get<double>() / 1e6;
  row.unit = "MB";
  row.against = "767 MB of 2024";
  row.ratio = row.measured * 1e6 / kMemoryBytes2024;
  row.goal = Goal{target, {}, Wanted::kAtMost};
  return row;
}

}  // namespace

Report bench_seed(double seconds, const Environment& environment) {
  Report report;
  const Json whole = run_with_all_nodes(seconds, environment);
  check_learning("the long run", whole);
  const std::string brief = fmt::format("{:.3f}", std::max(1.0, seconds / 10));
  const Json slots =
      run_seed({}, {"--nodes", "1", "--slots", "10", "--seconds", brief}, environment);
  report.rows.push_back(whole_row(whole));
  report.rows.push_back(memory_row("memory, 10 nodes as processes", whole, 0.5));
  report.rows.push_back(memory_row("memory, 10 slots of one node", slots, 0.25));
  const bool is_brief = seconds < kBriefSeconds;
  // Nodes need a second before they are warm.
  const double each = is_brief ? 0.5 : std::clamp(seconds / 5, 2.0, 5.0);
  add_speeds(report, each, is_brief ? 1 : kRounds, environment);
  report.tables = report_of_2024(whole);
  if (is_brief) {
    report.notes.emplace_back("a try-out: one round, and techniques were left out");
    return report;
  }
  const auto techniques = measure_techniques(std::clamp(seconds / 12, 0.8, 2.0), environment);
  for (const auto& row : techniques.rows) report.rows.push_back(row);
  report.tables += "\n" + techniques.table;
  return report;
}

}  // namespace wide::apps::bench
