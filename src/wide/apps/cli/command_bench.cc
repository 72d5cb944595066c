// wide bench NAME: measures what this machine makes of WIIIIIDE, each figure beside a yardstick.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>

#include <nlohmann/json.hpp>

#include "wide/apps/cli/bench/codec/codecs.h"
#include "wide/apps/cli/bench/crowd/rpc.h"
#include "wide/apps/cli/bench/crowd/scale.h"
#include "wide/apps/cli/bench/limit.h"
#include "wide/apps/cli/bench/peers/peers.h"
#include "wide/apps/cli/bench/seed/seed.h"
#include "wide/apps/cli/commands.h"
#include "wide/apps/cli/report_flags.h"
#include "wide/apps/cli/text_table.h"
#include "wide/base/nearest_word.h"

namespace wide::apps {

namespace {

struct Bench {
  std::string_view name;
  std::string_view does;
  double usual_seconds;
  bench::Report (*run)(double seconds, const Environment& environment);
};

constexpr std::array<Bench, 6> kBenches = {{
    {"codec", "every codec on gradients and weights of small real jobs", 90, bench::bench_codecs},
    {"limit", "what this machine could do with no network: the yardsticks", 40, bench::bench_limit},
    {"peers", "the same training by PyTorch's DDP over Gloo, beside ours", 150, bench::bench_peers},
    {"rpc", "small requests to a pool, beside a bare epoll echo server", 25, bench::bench_rpc},
    {"scale", "a pool with 10 to 10,000 connections, idle and at work", 60, bench::bench_scale},
    {"seed", "the experiment of 2024, and what its techniques buy today", 30, bench::bench_seed},
}};

const Bench& find_bench(const std::string& name) {
  const auto found = std::ranges::find(kBenches, name, &Bench::name);
  if (found != kBenches.end()) return *found;
  if (name.empty()) throw Failure(Errc::kUsage, "which bench? `wide bench --list` names them");
  std::vector<std::string_view> names;
  for (const auto& bench : kBenches) names.push_back(bench.name);
  const auto near = nearest_word(name, names);
  throw Failure(Errc::kUsage,
                near.empty()
                    ? fmt::format("there is no bench '{}'; `wide bench --list` names "
                                  "them: {}",
                                  name, fmt::join(names, ", "))
                    : fmt::format("there is no bench '{}'; did you mean '{}'?", name, near));
}

void list_benches(bool json) {
  if (json) {
    auto list = nlohmann::ordered_json::array();
    for (const auto& bench : kBenches) {
      list.push_back(
          {{"name", bench.name}, {"does", bench.does}, {"seconds", bench.usual_seconds}});
    }
    print_json({{"benches", list}});
    return;
  }
  TextTable table({"bench", "seconds", "measures"}, TextTable::Side::kLeft);
  for (const auto& bench : kBenches) {
    table.add_row({std::string(bench.name), fmt::format("{:g}", bench.usual_seconds),
                   std::string(bench.does)});
  }
  fmt::print("{}", table.text());
}

double cpu_seconds() {
  timespec span{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &span);
  return static_cast<double>(span.tv_sec) + static_cast<double>(span.tv_nsec) * 1e-9;
}

bench::Report measured(const Bench& bench, double seconds, const Environment& environment) {
  const auto began = std::chrono::steady_clock::now();
  bench::Report report = bench.run(seconds, environment);
  report.bench = bench.name;
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  report.cpu_seconds = cpu_seconds();
  return report;
}

}  // namespace

ExitCode run_bench(const Invocation& invocation) {
  std::string name;
  std::optional<double> seconds;
  bool list = false;
  ReportFlags flags;
  CommandLine line("wide", "bench",
                   "Measures. Every ratio is of two things timed in turns in the same run.",
                   "  wide bench --list\n  wide bench codec --seconds 60\n");
  line.positional("NAME", name, "what to measure", false);
  line.flag("--list", list, "name what can be measured");
  line.number("--seconds", seconds,
              "about how long it may take; of seed: the run of 2024, the rest takes nine minutes");
  flags.declare(line, invocation.environment);
  if (!line.parse(invocation.arguments)) return ExitCode::kOk;
  flags.apply();
  if (list) {
    list_benches(flags.json);
    return ExitCode::kOk;
  }

  const Bench& bench = find_bench(name);
  const double span = seconds.value_or(bench.usual_seconds);
  if (!(span > 0 && span <= 86400)) {
    throw Failure(Errc::kUsage,
                  fmt::format("--seconds takes more than 0 and a day at most, not {}", span));
  }
  const auto report = measured(bench, span, invocation.environment);
  const std::string machine = bench::machine_words();
  if (flags.json) {
    print_json(bench::report_json(report, machine));
  } else {
    fmt::print("{}", bench::report_text(report, machine));
  }
  return ExitCode::kOk;
}

}  // namespace wide::apps
