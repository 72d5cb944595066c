#include "wide/apps/cli/bench/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "wide/apps/cli/text_table.h"
#include "wide/apps/edge/this_machine.h"

namespace wide::apps::bench {

namespace {
using Json = nlohmann::ordered_json;

Json row_json(const Row& row) {
  Json json = {{"name", row.name}, {"measured", row.measured}, {"unit", row.unit}};
  json["against"] = row.against.empty() ? Json() : Json(row.against);
  json["ratio"] = row.ratio ? Json(*row.ratio) : Json();
  json["target"] = row.goal ? Json(row.goal->target) : Json();
  const bool most = row.goal && row.goal->wanted == Wanted::kAtMost;
  if (row.goal) json["wanted"] = most ? "at_most" : "at_least";
  json["limit"] = row.goal && row.goal->limit ? Json(*row.goal->limit) : Json();
  const auto met = row.met();
  json["met"] = met ? Json(*met) : Json();
  if (row.goal) json["beyond_limit"] = row.is_beyond_limit();
  json.update(row.more);
  return json;
}

std::string goals_text(const std::vector<Row>& rows) {
  TextTable table({"goal", "against", "ratio", "target", "limit", "met"});
  for (const auto& row : rows) {
    if (!row.goal) continue;
    const char* sign = row.goal->wanted == Wanted::kAtLeast ? "≥" : "≤";
    table.add_row({row.name, row.against, row.ratio ? fmt::format("{:.3f}", *row.ratio) : "–",
                   fmt::format("{} {:.2f}", sign, row.goal->target),
                   row.goal->limit ? fmt::format("{:.2f}", *row.goal->limit) : "–",
                   row.met().value_or(false) ? "yes" : "NO"});
  }
  return table.text();
}
}  // namespace

std::optional<bool> Row::met() const {
  if (!goal || !ratio) return std::nullopt;
  return goal->wanted == Wanted::kAtLeast ? *ratio >= goal->target : *ratio <= goal->target;
}

bool Row::is_beyond_limit() const {
  if (!goal || !goal->limit || !ratio) return false;
  return goal->wanted == Wanted::kAtLeast ? *ratio > *goal->limit : *ratio < *goal->limit;
}

Json report_json(const Report& report, const std::string& machine) {
  Json json = {{"bench", report.bench},     {"machine", machine},
               {"seconds", report.seconds}, {"cpu_seconds", report.cpu_seconds},
               {"notes", report.notes},     {"rows", Json::array()}};
  for (const auto& row : report.rows) json["rows"].push_back(row_json(row));
  return json;
}

std::string report_text(const Report& report, const std::string& machine) {
  std::string text = fmt::format("{}\n\n", machine) + report.tables;
  const bool has_goals =
      std::ranges::any_of(report.rows, [](const Row& row) { return row.goal.has_value(); });
  if (has_goals) text += "\n" + goals_text(report.rows);
  for (const auto& row : report.rows) {
    if (!row.is_beyond_limit()) continue;
    text +=
        fmt::format("\n{}: beyond the limit. {} is a short yardstick here; the ratio flatters.\n",
                    row.name, row.against);
  }
  for (const auto& note : report.notes) text += "\n" + note + "\n";
  return text;
}

std::string machine_words() {
  std::ifstream file("/proc/cpuinfo");
  std::string processor = "unknown processor";
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (!line.starts_with("model name") || colon == std::string::npos) continue;
    processor = line.substr(colon + 2);
    break;
  }
  return fmt::format("{} cores, {}", cores_available(), processor);
}

}  // namespace wide::apps::bench
