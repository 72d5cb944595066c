// wide nodes URL: who is in the pool and what they do.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "wide/apps/cli/commands.h"
#include "wide/apps/cli/figures.h"
#include "wide/apps/cli/report_flags.h"
#include "wide/apps/cli/text_table.h"
#include "wide/net/pool_call.h"

namespace wide::apps {

namespace {
nlohmann::ordered_json node_json(const wire::NodeStatus& node) {
  return {{"name", node.name},
          {"state", node.state},
          {"slots", node.slots},
          {"leases_in_flight", node.leases_in_flight},
          {"units", node.units},
          {"samples_per_second", node.samples_per_second},
          {"seconds_since_heard", node.seconds_since_heard},
          {"rejected", node.rejected}};
}

std::string nodes_table(const std::vector<wire::NodeStatus>& nodes) {
  if (nodes.empty()) return "no nodes: the pool waits for someone to join\n";
  TextTable table({"node", "state", "slots", "leases", "units", "samples/s", "heard", "rejected"});
  for (const auto& node : nodes) {
    table.add_row({node.name, node.state, std::to_string(node.slots),
                   std::to_string(node.leases_in_flight), grouped(node.units),
                   short_rate(node.samples_per_second),
                   fmt::format("{:.1f} s ago", node.seconds_since_heard), grouped(node.rejected)});
  }
  return table.text();
}
}  // namespace

ExitCode run_nodes(const Invocation& invocation) {
  std::string url;
  ReportFlags flags;
  CommandLine line("wide", "nodes", "Who is in a pool and what they do.",
                   "  wide nodes wide://192.168.1.7:7878\n");
  line.positional("URL", url, "where the pool is: wide://HOST:PORT");
  flags.declare(line, invocation.environment);
  if (!line.parse(invocation.arguments)) return ExitCode::kOk;
  flags.apply();

  const auto pool = value_or_throw(net::parse_url(url));
  const auto answer = value_or_throw(net::ask_pool(pool));
  if (!flags.json) {
    fmt::print("{}", nodes_table(answer.status.nodes));
    return ExitCode::kOk;
  }
  nlohmann::ordered_json json = {{"pool", pool.url()}, {"nodes", nlohmann::ordered_json::array()}};
  for (const auto& node : answer.status.nodes) json["nodes"].push_back(node_json(node));
  print_json(json);
  return ExitCode::kOk;
}

}  // namespace wide::apps
