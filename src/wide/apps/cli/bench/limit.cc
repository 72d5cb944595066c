#include "wide/apps/cli/bench/limit.h"

#include <fmt/format.h>

#include "wide/apps/cli/bench/machine_limits.h"
#include "wide/apps/cli/bench/whole_run.h"
#include "wide/apps/cli/text_table.h"
#include "wide/base/error.h"
#include "wide/base/log.h"
#include "wide/store/atomic_file.h"

namespace wide::apps::bench {

namespace {

constexpr std::string_view kClothes = R"([model]
kind = "cnn"
channels = [32, 64]
hidden = 64
[data]
kind = "fashion-mnist"
[train]
batch = 64
units_per_step = 8
)";

std::string tiny_job(int batch) {
  return fmt::format(
      "[model]\nkind = \"mlp\"\nlayers = [10, 20, 10]\n[data]\nkind = \"synthetic\"\n"
      "samples = 4096\nfeatures = 10\nclasses = 10\n[train]\nunits_per_step = 10\n"
      "optimizer = \"adam\"\nlr = 0.01\nbatch = {}\n",
      batch);
}

void add_row(Report& report, std::string name, double measured, std::string unit) {
  log::info("measured {}={} {}", name, measured, unit);
  Row row;
  row.name = std::move(name);
  row.measured = measured;
  row.unit = std::move(unit);
  report.rows.push_back(std::move(row));
}

// Units per second of all slots together. As in `wide train --efficiency`: at the end of a short
// run every slot computes for five seconds, all of them at the same time, with nobody to wait for.
double slots_alone(const std::string& job, int nodes, double seconds,
                   const Environment& environment) {
  const ScratchFolder folder(environment);
  const std::string file = folder / "job.toml";
  value_or_throw(store::write_atomically(file, "[job]\nname = \"limit\"\n" + job));
  const auto summary = train(file, folder / "run",
                             {"--nodes", fmt::to_string(nodes), "--seconds",
                              fmt::format("{:.3f}", seconds), "--efficiency"},
                             environment);
  return summary.at("units").get<double>() / summary.at("seconds").get<double>() /
         summary.at("efficiency").get<double>();
}

void add_slots(Report& report, double seconds, const Environment& environment) {
  struct Subject {
    std::string name;
    std::string job;
    int nodes;
    double batches_per_unit;
  };
  const Subject subjects[] = {
      {"430 parameters, batches of 32, 10 nodes", tiny_job(32), 10, 1},
      {"430 parameters, units of 1,024, 10 nodes", tiny_job(1024), 10, 32},
      {"Fashion-MNIST cnn, batches of 64, 2 nodes", std::string(kClothes), 2, 1},
  };
  for (const auto& subject : subjects) {
    try {
      const double units = slots_alone(subject.job, subject.nodes, seconds, environment);
      add_row(report, subject.name, units * subject.batches_per_unit, "batches/s");
    } catch (const Failure& failure) {
      report.notes.push_back(
          fmt::format("{}: not measured: {}", subject.name, describe(failure.error())));
    }
  }
}

std::string table_of(const Report& report) {
  TextTable table({"limit", "measured", ""}, TextTable::Side::kLeft);
  for (const auto& row : report.rows) {
    table.add_row({row.name, fmt::format("{:.4g}", row.measured), row.unit});
  }
  return table.text();
}

}  // namespace

Report bench_limit(double seconds, const Environment& environment) {
  const double share = seconds / 8;
  Report report;
  const ScratchFolder folder(environment);
  add_row(report, "memcpy, 64 MB", memcpy_bytes_per_second(share / 2) / 1e9, "GB/s");
  add_row(report, "loopback TCP, one way", loopback_bytes_per_second(share) / 1e9, "GB/s");
  add_row(report, "wake-up over loopback TCP", wake_up_seconds(share / 2) * 1e6, "µs");
  add_row(report, "fdatasync of 4 KiB", sync_seconds(folder / "", share) * 1e3, "ms");
  add_slots(report, share, environment);
  report.tables = table_of(report);
  return report;
}

}  // namespace wide::apps::bench
