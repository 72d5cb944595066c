// wide replay DIR --step T: becomes wide-node, which computes the step once more and compares.

#include <fmt/format.h>

#include "wide/apps/cli/commands.h"
#include "wide/apps/cli/node_program.h"
#include "wide/apps/cli/report_flags.h"
#include "wide/history/run_identity.h"
#include "wide/store/real_disk.h"
#include "wide/store/run_folder.h"

namespace wide::apps {

ExitCode run_replay(const Invocation& invocation) {
  const auto& environment = invocation.environment;
  std::string run;
  std::optional<std::uint64_t> step;
  std::string samples_folder;
  std::string model_file;
  ReportFlags flags;
  CommandLine line(
      "wide", "replay",
      "Computes one step of a run once more, on this machine alone, and compares every "
      "block and the update with the ledger.",
      "  wide replay runs/first --step 100\n");
  line.positional("DIR", run, "the run folder");
  line.whole("--step", step, "which step; the first is 0");
  line.text("--data", samples_folder, "where the samples lie on this machine",
            fallback(environment, "WIDE_DATA"));
  line.text("--model", model_file, "your copy of the job's TorchScript file",
            fallback(environment, "WIDE_MODEL"));
  flags.declare(line, environment);
  if (!line.parse(invocation.arguments)) return ExitCode::kOk;
  flags.apply();
  if (!step) throw Failure(Errc::kUsage, "wide replay needs --step T");

  const auto folder = value_or_throw(store::RunFolder::open(run));
  store::RealDisk disk(folder.path());
  const auto identity = value_or_throw(history::read_identity(disk));
  NodeCall call;
  call.program = find_node_program(environment);
  call.environment = node_environment(environment, identity.job.train.numerics);
  call.arguments = {"replay", folder.path().string(), "--step", std::to_string(*step), "--log",
                    flags.log};
  const auto pass_on = [&call](const char* flag, const std::string& value) {
    if (!value.empty()) call.arguments.insert(call.arguments.end(), {flag, value});
  };
  pass_on("--data", samples_folder);
  pass_on("--model", model_file);
  if (flags.json) call.arguments.push_back("--json");
  become(call);
}

}  // namespace wide::apps
