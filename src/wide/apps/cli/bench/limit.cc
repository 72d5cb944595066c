#include "wide/apps/cli/bench/limit.h"

#include <fmt/format.h>

#include "wide/apps/cli/bench/lockstep.h"
#include "wide/apps/cli/bench/machine_limits.h"
#include "wide/apps/cli/bench/seed/seed_job.h"
#include "wide/apps/cli/bench/whole_run.h"
#include "wide/apps/cli/text_table.h"
#include "wide/base/error.h"
#include "wide/base/log.h"

namespace wide::apps::bench {

namespace {

void add_row(Report& report, std::string name, double measured, std::string unit) {
  log::info("measured {}={} {}", name, measured, unit);
  Row row;
  row.name = std::move(name);
  row.measured = measured;
  row.unit = std::move(unit);
  report.rows.push_back(std::move(row));
}

// As long as a step of ten small batches on two cores.
constexpr double kTasksPerStep = 5;

void add_lockstep(Report& report, double seconds) {
  const auto cores = watch_cores(seconds);
  add_row(report, "cores that meet after every 5 tasks of 0.1 ms",
          lockstep_share(cores, kTasksPerStep, 0), "of the same alone");
  add_row(report, "the same, where one may be a step ahead",
          lockstep_share(cores, kTasksPerStep, 1), "of the same alone");
}

// Units per second of all slots together. As in `wide train --efficiency`: at the end of a short
// run every slot computes for as long as half of it, all of them at the same time, with nobody to
// wait for.
double slots_alone(const SeedJob& job, int nodes, double seconds, const Environment& environment) {
  const auto summary = run_seed(job,
                                {"--nodes", fmt::to_string(nodes), "--seconds",
                                 fmt::format("{:.3f}", seconds), "--efficiency"},
                                environment);
  return summary.at("units").get<double>() / summary.at("seconds").get<double>() /
         summary.at("efficiency").get<double>();
}

void add_slots(Report& report, double seconds, const Environment& environment) {
  struct Subject {
    std::string name;
    SeedJob job;
    int nodes;
  };
  SeedJob wide_units;
  wide_units.batch = 1024;
  SeedJob clothes;
  clothes.kind = SeedJob::Kind::kClothes;
  const Subject subjects[] = {
      {"430 parameters, batches of 32, 10 nodes", {}, 10},
      {"430 parameters, units of 1,024, 10 nodes", wide_units, 10},
      {"Fashion-MNIST cnn, batches of 64, 2 nodes", clothes, 2},
  };
  for (const auto& subject : subjects) {
    try {
      const double units = slots_alone(subject.job, subject.nodes, seconds, environment);
      add_row(report, subject.name, units * subject.job.batches_per_unit(), "batches/s");
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
  const double share = seconds / 9;
  Report report;
  const ScratchFolder folder(environment);
  add_row(report, "memcpy, 64 MB", memcpy_bytes_per_second(share / 2) / 1e9, "GB/s");
  add_row(report, "loopback TCP, one way", loopback_bytes_per_second(share) / 1e9, "GB/s");
  add_row(report, "wake-up over loopback TCP", wake_up_seconds(share / 2) * 1e6, "µs");
  add_row(report, "fdatasync of 4 KiB", sync_seconds(folder / "", share) * 1e3, "ms");
  add_lockstep(report, share);
  add_slots(report, share, environment);
  report.tables = table_of(report);
  return report;
}

}  // namespace wide::apps::bench
