// wide pool JOB.toml: opens a pool, prints the join line, trains with whoever comes.

#include "wide/apps/cli/commands.h"
#include "wide/apps/cli/pool_run.h"

namespace wide::apps {

ExitCode run_pool(const Invocation& invocation) {
  const auto& environment = invocation.environment;
  RunFlags flags;
  std::string file;
  CommandLine line("wide", "pool",
                   "Opens a pool and trains with whoever joins. It listens for this machine only, "
                   "at 127.0.0.1:7878, unless told otherwise.",
                   "  wide pool job.toml\n"
                   "  wide pool job.toml --listen 0.0.0.0 --insecure    for the whole network\n");
  line.positional("JOB.toml", file, "what to train");
  flags.declare_length(line);
  flags.declare_listen(line, environment);
  flags.declare_run(line, environment);
  if (!line.parse(invocation.arguments)) return ExitCode::kOk;
  flags.report.apply();

  RunRequest request;
  request.job = with_overrides(read_job_file(file), flags);
  request.listen = listen_endpoint(flags, {"127.0.0.1", net::kDefaultPort});
  request.open_to_others = true;
  return PoolRun(std::move(request), flags, environment).run();
}

}  // namespace wide::apps
