// wide train JOB.toml: a pool and nodes on this machine, until the job is done.

#include <algorithm>

#include "wide/apps/cli/commands.h"
#include "wide/apps/cli/pool_run.h"
#include "wide/apps/edge/this_machine.h"

namespace wide::apps {

ExitCode run_train(const Invocation& invocation) {
  const auto& environment = invocation.environment;
  RunFlags flags;
  std::string file;
  CommandLine line("wide", "train", "Trains a job with nodes on this machine.",
                   "  wide train job.toml\n"
                   "  wide train job.toml --nodes 4 --epochs 3 --out runs/first\n"
                   "  wide train job.toml --listen 0.0.0.0 --insecure   let others join, too\n");
  line.positional("JOB.toml", file, "what to train");
  flags.declare_length(line);
  flags.declare_local_nodes(line, environment);
  flags.declare_listen(line, environment);
  flags.declare_run(line, environment);
  if (!line.parse(invocation.arguments)) return ExitCode::kOk;
  flags.report.apply();

  RunRequest request;
  request.job = with_overrides(read_job_file(file), flags);
  request.listen = listen_endpoint(flags, request.listen);
  request.open_to_others = !flags.listen.empty();
  request.slots = bounded("--slots", flags.slots, 1, 1024);
  request.nodes =
      bounded("--nodes", flags.nodes, std::max(1u, cores_available() / request.slots), 256);
  return PoolRun(std::move(request), flags, environment).run();
}

}  // namespace wide::apps
