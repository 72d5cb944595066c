#include "wide/apps/cli/bench/crowd/scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "wide/apps/cli/bench/crowd/crowd_trials.h"
#include "wide/apps/cli/text_table.h"
#include "wide/apps/edge/this_machine.h"
#include "wide/base/error.h"
#include "wide/base/log.h"

namespace wide::apps::bench {

namespace {

constexpr std::array<std::size_t, 4> kConnections = {10, 100, 1'000, 10'000};
constexpr std::size_t kOtherDescriptors = 100;  // of a process, beside its connections
constexpr double kTrials = 14;                  // what they take, in parts of all the time
constexpr double kJoinsPerSecond = 500;         // of all the time: to join takes time, too
constexpr std::size_t kLeast = 100;             // connections that are always tried

// An idle connection, in kilobytes.
constexpr Goal kIdleGoal{.target = 12, .limit = 4, .wanted = Wanted::kAtMost};

struct Trials {
  std::vector<IdleTrial> idle;
  std::vector<BesideTrial> beside;
  std::vector<WorkTrial> working;
};

Row plain_row(std::string name, double measured, std::string unit) {
  Row row;
  row.name = std::move(name);
  row.measured = measured;
  row.unit = std::move(unit);
  return row;
}

void add_idle(const Trials& trials, Report& report) {
  for (const auto& trial : trials.idle) {
    Row memory = plain_row(fmt::format("idle/{}/memory", trial.connections),
                           trial.private_bytes_each, "B each");
    memory.more["connections"] = trial.connections;
    memory.more["proportional_bytes"] = trial.proportional_bytes_each;
    memory.more["kernel_bytes_both_ends"] = trial.kernel_bytes_each;
    if (&trial == &trials.idle.back()) {  // among few, a page more or less counts
      memory.against = "a kilobyte";
      memory.ratio = trial.private_bytes_each / 1000;
      memory.goal = kIdleGoal;
    }
    report.rows.push_back(std::move(memory));
    Row requests = plain_row(fmt::format("idle/{}/requests", trial.connections),
                             trial.requests_per_second, "requests/s");
    requests.more["connections"] = trial.connections;
    requests.more["pool_cpu_us"] = trial.cpu_seconds_each * 1e6;
    report.rows.push_back(std::move(requests));
  }
}

void add_work(const std::string& name, const WorkTrial& trial, Report& report) {
  Row row = plain_row(fmt::format("{}/{}/commits", name, trial.connections),
                      trial.commits_per_second, "commits/s");
  row.more["connections"] = trial.connections;
  row.more["units_per_second"] = trial.units_per_second;
  row.more["pool_cpu_us_per_unit"] = trial.cpu_seconds_per_unit * 1e6;
  report.rows.push_back(std::move(row));
}

void add_slope(const std::string& name, std::vector<std::pair<double, double>> points,
               Report& report) {
  std::erase_if(points, [](const auto& point) { return !(point.second > 0); });
  if (points.size() < 2) return;
  Row row = plain_row("slope/" + name, exponent(points), "");
  row.more["points"] = points;
  report.rows.push_back(std::move(row));
}

void add_slopes(const Trials& trials, Report& report) {
  std::vector<std::pair<double, double>> requests, beside, working;
  for (const auto& trial : trials.idle) {
    requests.emplace_back(trial.connections, trial.cpu_seconds_each);
  }
  for (const auto& trial : trials.beside) {
    beside.emplace_back(trial.beside.connections, trial.beside.cpu_seconds_per_unit);
  }
  for (const auto& trial : trials.working) {
    working.emplace_back(trial.connections, trial.cpu_seconds_per_unit);
  }
  add_slope("pool CPU per request, all asking", requests, report);
  add_slope("pool CPU per unit, ten at work, others idle", beside, report);
  add_slope("pool CPU per unit, all at work", working, report);
}

std::string spent_words(const Row& row) {
  const bool unit = row.more.contains("pool_cpu_us_per_unit");
  const char* const key = unit ? "pool_cpu_us_per_unit" : "pool_cpu_us";
  if (row.more.contains(key)) {
    return fmt::format("{:.1f} a {}", row.more[key].get<double>(), unit ? "unit" : "request");
  }
  return "";
}

std::string table_of(const Report& report) {
  TextTable table({"crowd", "measured", "", "pool, µs of CPU", "ratio"}, TextTable::Side::kLeft);
  for (const auto& row : report.rows) {
    table.add_row({row.name, fmt::format("{:.4g}", row.measured), row.unit, spent_words(row),
                   row.ratio && !row.goal ? fmt::format("{:.3f}", *row.ratio) : ""});
  }
  return table.text();
}

std::vector<std::size_t> affordable(double seconds, Report& report) {
  const std::size_t open_most = raise_descriptor_limit() - kOtherDescriptors;
  const auto joined_most = std::max(kLeast, static_cast<std::size_t>(seconds * kJoinsPerSecond));
  const std::size_t most = std::min(open_most, joined_most);
  std::vector<std::size_t> counts;
  for (const auto count : kConnections) counts.push_back(std::min(count, most));
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  if (counts.back() < kConnections.back()) {
    report.notes.push_back(fmt::format(
        "At most {} connections: {} allows no more.", most,
        open_most < joined_most ? "the limit of open files (ulimit -n)" : "the time given"));
  }
  return counts;
}

Trials measured(const std::vector<std::size_t>& counts, double part, const Environment& environment,
                std::vector<std::string>& notes) {
  Trials trials;
  for (const auto count : counts) {
    log::info("trying connections={}", count);
    const auto attempt = [&](const char* what, auto trial) {
      try {
        trial();
      } catch (const Failure& failure) {
        notes.push_back(
            fmt::format("{}/{}: not measured: {}", what, count, describe(failure.error())));
      }
    };
    attempt("idle", [&] { trials.idle.push_back(try_idle(count, part, environment)); });
    if (count > counts.front()) {
      attempt("beside", [&] { trials.beside.push_back(try_beside(count, 2 * part, environment)); });
    }
    attempt("working", [&] { trials.working.push_back(try_working(count, part, environment)); });
  }
  return trials;
}

}  // namespace

double exponent(const std::vector<std::pair<double, double>>& points) {
  double x_mean = 0, y_mean = 0;
  for (const auto& [x, y] : points) {
    x_mean += std::log(x) / static_cast<double>(points.size());
    y_mean += std::log(y) / static_cast<double>(points.size());
  }
  double up = 0, along = 0;
  for (const auto& [x, y] : points) {
    up += (std::log(x) - x_mean) * (std::log(y) - y_mean);
    along += (std::log(x) - x_mean) * (std::log(x) - x_mean);
  }
  return along > 0 ? up / along : 0;
}

Report bench_scale(double seconds, const Environment& environment) {
  Report report;
  const auto counts = affordable(seconds, report);
  const Trials trials = measured(counts, seconds / kTrials, environment, report.notes);
  add_idle(trials, report);
  for (const auto& trial : trials.beside) {
    add_work("alone", trial.alone, report);
    add_work("beside", trial.beside, report);
    report.rows.back().against = "the same ten alone";
    report.rows.back().ratio = trial.ratio;
  }
  for (const auto& trial : trials.working) add_work("working", trial, report);
  add_slopes(trials, report);
  report.tables = table_of(report);
  report.notes.push_back(
      "Idle: joined, with a heartbeat a second, and never asking for work. Beside: ten at work, "
      "ten units a step, the others idle; in turns with a pool that has those ten alone. Working: "
      "everyone, with a unit a step for each, a thousand at most; gradients are made up. Leases "
      "are of one unit each (--lease-blocks 1), so that everyone is at work in every step; by "
      "itself the pool would give such small units to a few. A slope of 0 says that the cost of "
      "one does not grow with their number, 1 that it grows as fast as the number does.");
  return report;
}

}  // namespace wide::apps::bench
