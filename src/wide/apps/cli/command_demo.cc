// wide demo: a small CNN learns Fashion-MNIST on this machine, in about a minute.

#include "wide/apps/cli/commands.h"
#include "wide/apps/cli/pool_run.h"
#include "wide/base/log.h"
#include "wide/net/open_samples.h"

namespace wide::apps {

namespace {
engine::Job fashion_job() {
  engine::Job job;
  job.name = "demo";
  job.model.kind = engine::ModelKind::kCnn;
  job.model.channels = {16, 32};
  job.model.hidden = 128;
  job.samples.kind = engine::SampleKind::kFashionMnist;
  job.train.batch = 32;
  job.train.units_per_step = 8;
  job.train.epochs = 2;
  job.train.optimizer = engine::OptimizerKind::kAdamW;
  job.train.lr = 0.002;
  job.train.schedule = engine::Schedule::kCosine;
  return job;
}

// Without the samples that Debian packs, the demo still shows training: on made-up ones.
engine::Job synthetic_job() {
  engine::Job job;
  job.name = "demo-synthetic";
  job.model.kind = engine::ModelKind::kMlp;
  job.model.layers = {10, 64, 64, 10};
  job.samples.kind = engine::SampleKind::kSynthetic;
  job.train.batch = 32;
  job.train.units_per_step = 4;
  job.train.epochs = 200;
  job.train.optimizer = engine::OptimizerKind::kAdamW;
  job.train.lr = 0.003;
  return job;
}

engine::Job demo_job(const RunFlags& flags, const Environment& environment) {
  const auto cache =
      data::cache_folder(environment.value("XDG_CACHE_HOME"), environment.value("HOME"));
  const auto samples =
      net::open_samples(fashion_job(), net::files_in(flags.samples_folder, fashion_job()), cache);
  if (samples) return fashion_job();
  if (samples.error().code != Errc::kSamplesMissing) throw Failure(samples.error());
  log::info(
      "Fashion-MNIST is not installed (apt install dataset-fashion-mnist): the demo takes "
      "synthetic samples instead, and its accuracy says little");
  return synthetic_job();
}
}  // namespace

ExitCode run_demo(const Invocation& invocation) {
  const auto& environment = invocation.environment;
  RunFlags flags;
  CommandLine line("wide", "demo", "A pool and two local nodes train a small CNN on Fashion-MNIST.",
                   "  wide demo\n"
                   "  wide demo --nodes 4 --seconds 30 --efficiency\n");
  flags.declare_local_nodes(line, environment);
  line.number("--seconds", flags.seconds, "stop after so much time; default: two epochs");
  flags.declare_run(line, environment);
  if (!line.parse(invocation.arguments)) return ExitCode::kOk;
  flags.report.apply();

  RunRequest request;
  request.job = with_overrides(demo_job(flags, environment), flags);
  request.slots = bounded("--slots", flags.slots, 1, 1024);
  request.nodes = bounded("--nodes", flags.nodes, 2, 256);
  return PoolRun(std::move(request), flags, environment).run();
}

}  // namespace wide::apps
