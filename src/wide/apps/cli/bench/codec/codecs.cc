#include "wide/apps/cli/bench/codec/codecs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "wide/apps/cli/bench/codec/codec_rows.h"
#include "wide/apps/cli/bench/codec/trained_floats.h"
#include "wide/apps/cli/bench/turns.h"
#include "wide/apps/cli/text_table.h"
#include "wide/base/check.h"
#include "wide/base/log.h"
#include "wide/codec/lossy.h"

namespace wide::apps::bench {

namespace {

constexpr double kTrainingLeast = 15;            // seconds: below that, training shows nothing
constexpr double kWholeTraining = 90;            // seconds: with those, all steps
constexpr std::size_t kFarOutOfCache = 1 << 24;  // floats: 64 MB

const Row* find(const std::vector<Row>& rows, const std::string& name) {
  const auto found = std::ranges::find(rows, name, &Row::name);
  return found == rows.end() ? nullptr : &*found;
}

double ratio_of(const std::vector<Row>& rows, const Specimen& specimen, std::string_view codec,
                std::string_view what) {
  const Row* row = find(rows, row_about(specimen, codec, what).name);
  WIDE_CHECK(row != nullptr && row->ratio);
  return *row->ratio;
}

// --- Goals
// ----------------------------------------------------------------------------------------

Row goal_row(std::string name, std::string against, double ratio, Goal goal) {
  Row row{
      .name = std::move(name), .measured = ratio, .unit = "ratio", .against = std::move(against)};
  row.ratio = ratio;
  row.goal = goal;
  return row;
}

// Speed over memcpy's, both in GB/s of floats.
Row speed_goal(const std::string& name, const Turns& turns, const std::string& turn, Goal goal) {
  constexpr double kGigabytes = kFarOutOfCache * sizeof(float) / 1e9;
  Row row = goal_row(name, "memcpy", turns.speed_over(turn, "memcpy"), goal);
  row.measured = kGigabytes / turns.median_seconds(turn);
  row.unit = "GB/s";
  row.more["memcpy"] = kGigabytes / turns.median_seconds("memcpy");
  return row;
}

// int8 where no cache helps: what large models meet.
void add_int8_goals(const Specimen& specimen, const Pace& pace, std::vector<Row>& rows) {
  using codec::Lossy;
  std::vector<float> values(kFarOutOfCache);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = specimen.values[i % specimen.values.size()];
  }
  std::vector<float> residual(values.size()), other(values.size());
  std::vector<std::byte> code(codec::coded_bytes(Lossy::kInt8, values.size()));

  Turns turns;
  turns.add("memcpy", [&] {
    std::memcpy(other.data(), values.data(), values.size() * sizeof(float));
    keep_what_was_written();
  });
  turns.add("encode", [&] { codec::encode_with_feedback(Lossy::kInt8, values, residual, code); });
  turns.add("add", [&] { WIDE_CHECK(codec::decode_add(Lossy::kInt8, code, other).has_value()); });
  turns.run(pace);
  rows.push_back(speed_goal("int8, encode with feedback, 64 MB", turns, "encode",
                            {0.50, 0.62, Wanted::kAtLeast}));
  rows.push_back(
      speed_goal("int8, decode and add, 64 MB", turns, "add", {0.70, 0.89, Wanted::kAtLeast}));
}

// The median array says what to expect, the worst what may happen: the goal is for both.
void add_planes_speed_goals(const std::vector<Specimen>& specimens, std::string_view what,
                            std::vector<Row>& rows) {
  constexpr Goal kGoal{1.4, std::nullopt, Wanted::kAtLeast};
  std::vector<double> faster;
  for (const auto& specimen : specimens) {
    faster.push_back(ratio_of(rows, specimen, "planes", what) /
                     ratio_of(rows, specimen, "zstd", what));
  }
  const auto worst = std::ranges::min_element(faster);
  rows.push_back(goal_row(fmt::format("planes, {}, the median array", what), "zstd -1",
                          median(faster), kGoal));
  Row row = goal_row(fmt::format("planes, {}, the worst array", what), "zstd -1", *worst, kGoal);
  row.more["array"] = specimens[static_cast<std::size_t>(worst - faster.begin())].name();
  rows.push_back(std::move(row));
}

void add_planes_goals(const std::vector<Specimen>& specimens, std::vector<Row>& rows) {
  double worst = 0;
  for (const auto& specimen : specimens) {
    worst = std::max(worst, ratio_of(rows, specimen, "planes", kBound));
  }
  rows.push_back(goal_row("planes, bytes, the worst array", "order-0 bound", worst,
                          {1.03, 1.0, Wanted::kAtMost}));
  add_planes_speed_goals(specimens, kEncode, rows);
  add_planes_speed_goals(specimens, kDecode, rows);
}

// --- For people
// -----------------------------------------------------------------------------------

std::string cell(const std::vector<Row>& rows, const std::string& name) {
  const Row* row = find(rows, name);
  if (row == nullptr) return "–";
  return row->ratio ? fmt::format("{:.3f}", *row->ratio) : fmt::format("{:.2g}", row->measured);
}

std::string table_of(const Specimen& specimen, const std::vector<Row>& rows) {
  struct Column {
    const char* head;
    std::array<std::string_view, 2> whats;  // lossless, lossy
  };
  constexpr std::array<Column, 6> kColumns = {{{"bytes", {kSize, kSize}},
                                               {"error", {"", kFeedbackError}},
                                               {"error, unbiased", {"", kUnbiasedError}},
                                               {"encode", {kEncode, kFeedback}},
                                               {"encode, unbiased", {"", kUnbiased}},
                                               {"decode", {kDecode, kAdd}}}};
  std::vector<std::string> head = {fmt::format("{}, step {}", specimen.name(), specimen.step)};
  for (const auto& column : kColumns) head.emplace_back(column.head);
  TextTable table(head);
  for (const auto* codec : {"lz4", "zstd", "zlib", "zlib9", "planes", "fp16", "bf16", "int8",
                            "int4", "topk", "sign", "powersgd"}) {
    const bool is_lossy = find(rows, row_about(specimen, codec, kFeedback).name) != nullptr;
    std::vector<std::string> cells = {codec};
    for (const auto& column : kColumns) {
      cells.push_back(cell(rows, row_about(specimen, codec, column.whats[is_lossy ? 1 : 0]).name));
    }
    table.add_row(std::move(cells));
  }
  return table.text();
}

std::string tables_of(const std::vector<Specimen>& specimens, const std::vector<Row>& rows) {
  std::string text = "bytes over raw bytes; squared error; speed over memcpy of the same floats\n";
  for (const auto& specimen : specimens) {
    const bool shown =
        specimen.kind != "weights" && specimen.stage != "early" && specimen.stage != "middle";
    if (shown) text += "\n" + table_of(specimen, rows);
  }
  return text;
}

}  // namespace

Row row_about(const Specimen& specimen, std::string_view codec, std::string_view what) {
  Row row;
  row.name = fmt::format("{}/{}/{}", specimen.name(), codec, what);
  row.more = {{"model", specimen.model}, {"stage", specimen.stage}, {"kind", specimen.kind},
              {"step", specimen.step},   {"codec", codec},          {"what", what}};
  return row;
}

Report bench_codecs(double seconds, const Environment& environment) {
  Report report;
  const bool trains = seconds >= kTrainingLeast;
  const Specimens specimens =
      trains ? trained(environment, std::min(1.0, seconds / kWholeTraining))
             : made_up(fmt::format("{:g} s are too few to train anything", seconds));
  report.notes = specimens.notes;
  if (trains) report.notes.emplace_back("Weights, and earlier gradients: --json has them.");

  // Each array has its least number of rounds; where those are quick, a quarter of the time in all.
  const Pace pace{.seconds = seconds / 4 / (2.0 * static_cast<double>(specimens.all.size()) + 1)};
  for (const auto& specimen : specimens.all) {
    log::info("coding floats={} of={}", specimen.values.size(), specimen.name());
    measure_lossless(specimen, pace, report.rows);
    measure_lossy(specimen, pace, report.rows);
  }
  report.tables = tables_of(specimens.all, report.rows);
  add_int8_goals(specimens.all.front(), pace, report.rows);
  add_planes_goals(specimens.all, report.rows);
  return report;
}

}  // namespace wide::apps::bench
