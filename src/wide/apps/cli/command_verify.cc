// wide verify DIR: does the run folder hold what it claims? Every record, every block once, every
// checkpoint; the hashes at the end.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "wide/apps/cli/commands.h"
#include "wide/apps/cli/figures.h"
#include "wide/apps/cli/report_flags.h"
#include "wide/apps/edge/error_report.h"
#include "wide/history/verify.h"
#include "wide/store/real_disk.h"
#include "wide/store/run_folder.h"

namespace wide::apps {

namespace {

using Json = nlohmann::ordered_json;

struct Verified {
  std::string folder;
  history::RunIdentity identity;
  history::VerifyReport report;
  std::string weights_sha256;  // empty: no replica could be brought to the end
  std::string state_hash;
};

void add_hashes(Verified& verified) {
  if (!verified.report.replica) return;
  const auto& replica = *verified.report.replica;
  verified.weights_sha256 = sha256(replica.values.bytes()).hex();
  store::CheckpointFacts facts;
  facts.step = replica.step;
  facts.chain = replica.chain;
  verified.state_hash = store::state_hash_of(facts, {replica.values, replica.optimizer, {}}).hex();
}

// summary.json may be of an earlier life of the run; it binds only where it speaks of this step.
void compare_with_summary(Verified& verified, const store::RunFolder& folder) {
  const auto text = folder.read("summary.json");
  if (!text || verified.weights_sha256.empty()) return;
  const auto json = Json::parse(*text, nullptr, false);
  if (!json.is_object() || json.value("steps", Json()) != verified.report.past.steps) return;
  if (json.value("weights_sha256", "") != verified.weights_sha256) {
    verified.report.problems.emplace_back(
        "summary.json names other weights than the ledger's updates give");
  }
}

Json checkpoints_json(const history::VerifyReport& report) {
  Json list = Json::array();
  for (const auto& checkpoint : report.checkpoints) {
    list.push_back({{"step", checkpoint.step},
                    {"state_hash", checkpoint.state_hash.hex()},
                    {"compared", checkpoint.compared},
                    {"ok", checkpoint.problem.empty()},
                    {"problem", checkpoint.problem}});
  }
  return list;
}

Json nodes_json(const engine::Past& past) {
  Json list = Json::array();
  for (const auto& [name, node] : past.nodes) {
    list.push_back({{"name", name}, {"units", node.units}});
  }
  return list;
}

Json as_json(const Verified& verified) {
  const auto& report = verified.report;
  Json json;
  json["run"] = verified.folder;
  json["job"] = verified.identity.job.name;
  json["job_id"] = verified.identity.job_id.hex();
  json["ok"] = report.problems.empty();
  json["problems"] = report.problems;
  json["steps"] = report.past.steps;
  json["units"] = report.past.units;
  json["blocks"] = report.rows;
  json["records"] = report.records;
  json["segments"] = report.segments;
  json["updates_kept"] = report.updates_kept;
  json["replayed_from"] = report.replayed_from ? Json(*report.replayed_from) : Json();
  json["torn_bytes"] = report.torn ? report.torn->lost_bytes : 0;
  json["checkpoints"] = checkpoints_json(report);
  json["numerics_classes"] = report.past.classes.size();
  json["nodes"] = nodes_json(report.past);
  json["weights_sha256"] = verified.weights_sha256;
  json["state_hash"] = verified.state_hash;
  return json;
}

void print_checkpoints(const history::VerifyReport& report) {
  for (const auto& checkpoint : report.checkpoints) {
    fmt::print("checkpoint   step {}: {}\n", checkpoint.step,
               !checkpoint.problem.empty() ? "DAMAGED: " + checkpoint.problem
               : checkpoint.compared       ? "whole, and what the ledger gives"
                                           : "whole; the ledger's updates go on from here");
  }
}

void print_for_people(const Verified& verified) {
  const auto& report = verified.report;
  fmt::print("run          {}\n", verified.folder);
  fmt::print("job          {} ({})\n", verified.identity.job.name,
             verified.identity.job_id.short_hex());
  fmt::print("ledger       {} records in {} files, {} updates kept\n", grouped(report.records),
             report.segments, grouped(report.updates_kept));
  if (report.torn) {
    fmt::print("torn tail    {} bytes in {} at {}; --resume cuts them off\n",
               report.torn->lost_bytes, report.torn->file, report.torn->offset_bytes);
  }
  fmt::print("steps        {}: {} units in {} blocks{}\n", grouped(report.past.steps),
             grouped(report.past.units), grouped(report.rows),
             report.problems.empty() ? ", each counted exactly once" : "");
  print_checkpoints(report);
  if (report.replayed_from) {
    fmt::print("replica      every update since step {} applied again\n", *report.replayed_from);
    fmt::print("weights      {}\nstate        {}\n", verified.weights_sha256, verified.state_hash);
  }
  for (const auto& problem : report.problems) fmt::print("PROBLEM      {}\n", problem);
}

}  // namespace

ExitCode run_verify(const Invocation& invocation) {
  std::string run;
  ReportFlags flags;
  CommandLine line("wide", "verify",
                   "Checks a run folder: the ledger's chain, every unit exactly once, the "
                   "checkpoints. Changes nothing, and needs neither samples nor nodes.",
                   "  wide verify runs/first\n");
  line.positional("DIR", run, "the run folder");
  flags.declare(line, invocation.environment);
  if (!line.parse(invocation.arguments)) return ExitCode::kOk;
  flags.apply();

  const auto folder = value_or_throw(store::RunFolder::open(run));
  store::RealDisk disk(folder.path());
  BufferPool buffers;
  Verified verified;
  verified.folder = folder.path().string();
  verified.identity = value_or_throw(history::read_identity(disk));
  verified.report = value_or_throw(history::verify(disk, verified.identity, buffers));
  add_hashes(verified);
  compare_with_summary(verified, folder);
  if (flags.json) {
    print_json(as_json(verified));
  } else {
    print_for_people(verified);
  }
  if (verified.report.problems.empty()) return ExitCode::kOk;
  const Error error{Errc::kRunDiffers,
                    fmt::format("{}: {}", verified.folder, verified.report.problems.front())};
  report_error(error, false);  // with --json the object above holds it already
  return exit_code_of(error);
}

}  // namespace wide::apps
