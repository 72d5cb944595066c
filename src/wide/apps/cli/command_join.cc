// wide join URL: asks the pool what it trains, then becomes wide-node with the environment that
// the job's numerics need.

#include <fmt/format.h>

#include "wide/apps/cli/commands.h"
#include "wide/apps/cli/node_program.h"
#include "wide/apps/cli/report_flags.h"
#include "wide/apps/cli/run_flags.h"
#include "wide/apps/edge/this_machine.h"
#include "wide/base/log.h"
#include "wide/net/pool_call.h"

namespace wide::apps {

namespace {
struct JoinFlags {
  std::string url;
  std::optional<std::uint64_t> slots;
  std::string device = "cpu";
  std::string name = host_name();
  std::string samples_folder;
  std::string model_file;
  std::string cache_gib;
  ReportFlags report;

  void declare(CommandLine& line, const Environment& environment) {
    line.positional("URL", url, "where the pool is: wide://HOST:PORT");
    line.whole("--slots", slots, "compute threads; default: one per core",
               fallback(environment, "WIDE_SLOTS"));
    line.text("--device", device, "cpu (cuda is not in this version)");
    line.text("--name", name, "what the pool shows; default: this machine's name",
              fallback(environment, "WIDE_NAME"));
    line.text("--data", samples_folder,
              "where the samples lie on this machine; default: the pool sends them",
              fallback(environment, "WIDE_DATA"));
    line.text("--model", model_file, "your copy of the job's TorchScript file",
              fallback(environment, "WIDE_MODEL"));
    line.text("--cache-gib", cache_gib,
              "how much of the disk samples from pools may take; default 8",
              fallback(environment, "WIDE_CACHE_GIB"));
    report.declare(line, environment);
  }
};

void check_device(const std::string& device) {
  if (device == "cpu") return;
  if (device == "cuda") throw Failure(Errc::kNotYet, "--device cuda is not in this version");
  throw Failure(Errc::kUsage, fmt::format("--device knows cpu and cuda, not '{}'", device));
}

NodeCall node_call(const JoinFlags& flags, const net::Endpoint& pool, const engine::Job& job,
                   const Environment& environment) {
  NodeCall call;
  call.program = find_node_program(environment);
  call.environment = node_environment(environment, job.train.numerics);
  call.arguments = {"join",
                    "--connect",
                    pool.text(),
                    "--slots",
                    std::to_string(bounded("--slots", flags.slots, cores_available(), 1024)),
                    "--name",
                    flags.name,
                    "--log",
                    flags.report.log};
  const auto pass_on = [&call](const char* flag, const std::string& value) {
    if (!value.empty()) call.arguments.insert(call.arguments.end(), {flag, value});
  };
  pass_on("--data", flags.samples_folder);
  pass_on("--model", flags.model_file);
  if (!job.model.sha256.is_zero()) pass_on("--model-sha256", job.model.sha256.hex());
  pass_on("--cache-gib", flags.cache_gib);
  if (flags.report.json) call.arguments.push_back("--json");
  return call;
}
}  // namespace

ExitCode run_join(const Invocation& invocation) {
  JoinFlags flags;
  CommandLine line("wide", "join",
                   "Joins a pool as a node. The first Ctrl-C hands the work back and leaves, the "
                   "second leaves at once.",
                   "  wide join wide://192.168.1.7:7878\n"
                   "  wide join wide://192.168.1.7:7878 --slots 2 --name attic\n");
  flags.declare(line, invocation.environment);
  if (!line.parse(invocation.arguments)) return ExitCode::kOk;
  flags.report.apply();
  check_device(flags.device);

  const auto pool = value_or_throw(net::parse_url(flags.url));
  const auto answer = value_or_throw(net::ask_pool(pool));
  const auto job = value_or_throw(engine::parse_job(answer.welcome.job_text, "the pool's job"));
  log::detail("joining {} for job {}", pool.url(), job.name);
  become(node_call(flags, pool, job, invocation.environment));
}

}  // namespace wide::apps
