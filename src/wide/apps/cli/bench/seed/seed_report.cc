#include "wide/apps/cli/bench/seed/seed_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "wide/apps/cli/figures.h"
#include "wide/apps/cli/text_table.h"

namespace wide::apps::bench {

namespace {

using Json = nlohmann::json;

double number(const Json& object, const char* name) { return object.at(name).get<double>(); }

std::string nodes_table(const Json& summary) {
  TextTable table(
      {"node", "batches", "share", "samples/s", "network s", "compression s", "ratio", "loss"});
  for (const auto& node : summary.at("nodes")) {
    table.add_row({node.at("name").get<std::string>(),
                   grouped(node.at("units").get<std::uint64_t>()),
                   fmt::format("{:.1f}%", 100 * number(node, "share")),
                   short_rate(number(node, "samples_per_second")),
                   fmt::format("{:.2f}", number(node, "network_seconds")),
                   fmt::format("{:.2f}", number(node, "encode_seconds")),
                   fmt::format("{:.2f}", number(node, "compression_ratio")),
                   fmt::format("{:.4f}", number(node, "loss_mean"))});
  }
  return table.text();
}

struct Range {
  double least = 0;
  double most = 0;
};

Range range_over_nodes(const Json& summary, const char* name) {
  std::vector<double> values;
  for (const auto& node : summary.at("nodes")) values.push_back(number(node, name));
  if (values.empty()) return {};
  const auto [least, most] = std::ranges::minmax(values);
  return {least, most};
}

std::string range_text(const Range& range, const char* unit) {
  return fmt::format("{:.2f} to {:.2f} {}", range.least, range.most, unit);
}

}  // namespace

std::string report_of_2024(const Json& summary) {
  const Range share = range_over_nodes(summary, "share");
  TextTable table({"", "ours", "2024"}, TextTable::Side::kLeft);
  table.add_row({"batches", grouped(summary.at("batches").get<std::uint64_t>()), "24,373"});
  table.add_row({"seconds", fmt::format("{:.1f}", number(summary, "seconds")), "30"});
  table.add_row({"batches/s", fmt::format("{:.0f}", number(summary, "batches_per_second")), "812"});
  table.add_row(
      {"network", short_bytes(number(summary, "network_bytes_per_second")) + "/s", "4.11 MB/s"});
  table.add_row({"network time per node",
                 range_text(range_over_nodes(summary, "network_seconds"), "s"), "12.8 to 14.0 s"});
  table.add_row({"compression time per node",
                 range_text(range_over_nodes(summary, "encode_seconds"), "s"), "0.16 to 0.23 s"});
  table.add_row(
      {"compression ratio", fmt::format("{:.2f}", number(summary, "compression_ratio")), "1.30"});
  table.add_row({"memory", short_bytes(number(summary, "memory_bytes_peak")), "767 MB"});
  table.add_row({"epochs", fmt::format("{:.0f}", number(summary, "epochs")), "not published"});
  table.add_row({"evenness: smallest over largest share",
                 fmt::format("{:.2f}", share.most > 0 ? share.least / share.most : 0), "\"even\""});
  table.add_row(
      {"loss, first to last",
       fmt::format("{:.3f} to {:.3f}", number(summary, "loss_first"), number(summary, "loss_last")),
       "2.33 to 2.33"});
  return nodes_table(summary) + "\n" + table.text();
}

}  // namespace wide::apps::bench
