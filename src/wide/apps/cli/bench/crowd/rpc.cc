#include "wide/apps/cli/bench/crowd/rpc.h"

#include <fmt/format.h>

#include <array>

#include "wide/apps/cli/bench/crowd/callers.h"
#include "wide/apps/cli/bench/crowd/echo_server.h"
#include "wide/apps/cli/bench/crowd/pool_process.h"
#include "wide/apps/cli/bench/crowd/small_job.h"
#include "wide/apps/cli/bench/turns.h"
#include "wide/apps/cli/text_table.h"
#include "wide/base/log.h"

namespace wide::apps::bench {

namespace {

constexpr std::array<std::size_t, 3> kConnections = {1, 16, 64};
constexpr int kRounds = 9;
constexpr int kRoundsUnmeasured = 1;
constexpr Goal kGoal{.target = 0.90, .limit = 1.0};

// One server, called by so many.
class Subject final {
 public:
  Subject(Poller& poller, std::uint16_t port, const Child& server, std::size_t count,
          Manners manners)
      : server_(server), callers_(poller, port, count, manners) {}

  void take_turn(double seconds, bool counts) {
    const double cpu_before = server_.cpu_seconds();
    const Asked asked = callers_.ask(seconds);
    if (!counts) return;
    per_second_.push_back(asked.per_second());
    cpu_.push_back((server_.cpu_seconds() - cpu_before) / static_cast<double>(asked.answers));
  }

  double per_second() const { return median(per_second_); }
  double cpu_per_request() const { return median(cpu_); }
  const std::vector<double>& rates() const { return per_second_; }

 private:
  const Child& server_;
  Callers callers_;
  std::vector<double> per_second_;
  std::vector<double> cpu_;
};

// The median of the ratios of neighbours in time: what slows the machine down slows both.
double ratio_of(const Subject& ours, const Subject& bare) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < ours.rates().size(); ++i) {
    ratios.push_back(ours.rates()[i] / bare.rates()[i]);
  }
  return median(std::move(ratios));
}

Row row_of(std::size_t count, const Subject& ours, const Subject& bare) {
  Row row;
  row.name = fmt::format("requests of {} B, {} connection{}", kQuestionBytes, count,
                         count == 1 ? "" : "s");
  row.measured = ours.per_second();
  row.unit = "requests/s";
  row.against = "bare epoll echo";
  row.ratio = ratio_of(ours, bare);
  row.goal = kGoal;
  row.more["connections"] = count;
  row.more["bare_per_second"] = bare.per_second();
  row.more["server_cpu_us"] = ours.cpu_per_request() * 1e6;
  row.more["bare_server_cpu_us"] = bare.cpu_per_request() * 1e6;
  return row;
}

std::string table_of(const Report& report) {
  TextTable table({"connections", "pool, requests/s", "bare, requests/s", "pool, µs of CPU each",
                   "bare, µs of CPU each"});
  for (const auto& row : report.rows) {
    table.add_row({row.more["connections"].dump(), fmt::format("{:.0f}", row.measured),
                   fmt::format("{:.0f}", row.more["bare_per_second"].get<double>()),
                   fmt::format("{:.2f}", row.more["server_cpu_us"].get<double>()),
                   fmt::format("{:.2f}", row.more["bare_server_cpu_us"].get<double>())});
  }
  return table.text();
}

}  // namespace

Report bench_rpc(double seconds, const Environment& environment) {
  const EchoServer bare;
  const PoolProcess pool(small_job(10), {}, environment);
  const double turn =
      seconds / static_cast<double>(2 * (kRounds + kRoundsUnmeasured) * kConnections.size());
  Report report;
  for (const auto count : kConnections) {
    Poller poller;
    Subject theirs(poller, bare.port(), bare.process(), count, Manners::kNone);
    Subject ours(poller, pool.port(), pool.process(), count, Manners::kObserver);
    for (int round = 0; round < kRounds + kRoundsUnmeasured; ++round) {
      ours.take_turn(turn, round >= kRoundsUnmeasured);
      theirs.take_turn(turn, round >= kRoundsUnmeasured);
    }
    report.rows.push_back(row_of(count, ours, theirs));
    log::info("measured connections={} ratio={:.3f}", count, *report.rows.back().ratio);
  }
  report.tables = table_of(report);
  report.notes.push_back(
      "One request in flight on each connection; the same client, on this machine, asks both in "
      "turns. The bare server checks and counts nothing.");
  return report;
}

}  // namespace wide::apps::bench
