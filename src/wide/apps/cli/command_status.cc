// wide status URL: how far the pool is.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "wide/apps/cli/commands.h"
#include "wide/apps/cli/figures.h"
#include "wide/apps/cli/report_flags.h"
#include "wide/net/pool_call.h"

namespace wide::apps {

namespace {
std::uint32_t slots_of(const wire::StatusReport& status) {
  std::uint32_t slots = 0;
  for (const auto& node : status.nodes) slots += node.slots;
  return slots;
}

nlohmann::ordered_json status_json(const net::Endpoint& pool, const net::PoolAnswer& answer) {
  const auto& status = answer.status;
  return {{"pool", pool.url()},
          {"job", status.job_name},
          {"job_id", answer.welcome.job_id.hex()},
          {"state", status.state},
          {"step", status.step},
          {"steps_total", status.steps_total},
          {"epoch", status.epoch},
          {"loss", status.loss},
          {"samples_per_second", status.samples_per_second},
          {"elapsed_seconds", status.elapsed_seconds},
          {"left_seconds", status.left_seconds},
          {"nodes", status.nodes.size()},
          {"slots", slots_of(status)}};
}

void row(std::string_view name, const std::string& fact) {
  fmt::print("{:<8}  {}\n", name, printable(fact));
}

void print_status(const net::Endpoint& pool, const net::PoolAnswer& answer) {
  const auto& status = answer.status;
  const std::string total = status.steps_total == 0 ? "" : "/" + grouped(status.steps_total);
  const std::string left = status.left_seconds > 0
                               ? fmt::format(", about {} left", clock_span(status.left_seconds))
                               : "";
  row("pool", pool.url());
  row("job", fmt::format("{}  (id {})", status.job_name, answer.welcome.job_id.short_hex()));
  row("state", status.state);
  row("step", fmt::format("{}{}  (epoch {:.2f})", grouped(status.step), total, status.epoch));
  row("loss", status.step == 0 ? "none yet" : fmt::format("{:.4f}", status.loss));
  row("speed", short_rate(status.samples_per_second) + " samples/s");
  row("time", fmt::format("{} so far{}", clock_span(status.elapsed_seconds), left));
  row("nodes", fmt::format("{} with {} slots", status.nodes.size(), slots_of(status)));
}
}  // namespace

ExitCode run_status(const Invocation& invocation) {
  std::string url;
  ReportFlags flags;
  CommandLine line("wide", "status", "How far a pool is.",
                   "  wide status wide://192.168.1.7:7878 --json\n");
  line.positional("URL", url, "where the pool is: wide://HOST:PORT");
  flags.declare(line, invocation.environment);
  if (!line.parse(invocation.arguments)) return ExitCode::kOk;
  flags.apply();

  const auto pool = value_or_throw(net::parse_url(url));
  const auto answer = value_or_throw(net::ask_pool(pool));
  if (flags.json) {
    print_json(status_json(pool, answer));
  } else {
    print_status(pool, answer);
  }
  return ExitCode::kOk;
}

}  // namespace wide::apps
