#include "wide/apps/node/node_flags.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "wide/apps/edge/error_report.h"
#include "wide/apps/edge/job_file.h"
#include "wide/apps/edge/log_flag.h"
#include "wide/base/log.h"
#include "wide/train/script_file.h"
#include "wide/train/torch_factory.h"

namespace wide::apps {

void NodeFlags::declare(CommandLine& line) {
  line.text("--connect", connect, "HOST:PORT of the pool");
  line.whole("--slots", slots, "compute threads; default 1");
  line.text("--name", name, "what the pool shows");
  line.text("--data", samples_folder, "where the samples lie on this machine");
  line.text("--model", model_file, "the TorchScript file of the job");
  line.text("--model-sha256", model_sha256, "what it must hash to");
  line.text("--job", job_file, "the pool's job file: its paths hold on this machine");
  line.number("--cache-gib", cache_gib, "how much of the disk fetched samples may take; default 8");
  line.text("--log", log, "silent, normal or verbose");
  line.flag("--json", json, "errors as a JSON object on stdout, too");
}

namespace {
std::uint64_t bytes_of_gib(double gib) {
  if (gib >= 0 && gib <= 1e6) return static_cast<std::uint64_t>(gib * (1u << 30));
  throw Failure(Errc::kUsage, fmt::format("--cache-gib takes 0 to 1000000, not {}", gib));
}

engine::Genesis genesis_of(const engine::Job& job, const SampleSpace& space,
                           const std::string& model_file) {
  if (job.model.kind != engine::ModelKind::kTorchScript) return engine::make_genesis(job, space);
  if (model_file.empty()) {
    throw Failure(
        Errc::kModelMissing,
        fmt::format("the job trains a TorchScript file with sha256 {}; say where your copy "
                    "lies: --model FILE",
                    job.model.sha256.short_hex()));
  }
  return value_or_throw(train::read_script_file(model_file, job.model.sha256)).genesis;
}
}  // namespace

net::Tools torch_tools(const std::string& model_file) {
  net::Tools tools;
  tools.make_genesis = [model_file](const engine::Job& job, const SampleSpace& space) {
    return genesis_of(job, space, model_file);
  };
  tools.make_factory = [model_file](const engine::Job& job, const engine::Layout& layout,
                                    data::DatasetPtr samples) {
    return train::make_torch_factory(job, layout, std::move(samples), model_file);
  };
  return tools;
}

net::NodeClientOptions client_options(const NodeFlags& flags, const std::string& name,
                                      const Environment& environment) {
  const auto slots = flags.slots.value_or(1);
  if (slots < 1 || slots > 1024) {
    throw Failure(Errc::kUsage, fmt::format("--slots takes 1 to 1024, not {}", slots));
  }
  if (flags.connect.empty()) throw Failure(Errc::kUsage, "wide-node needs --connect HOST:PORT");
  net::NodeClientOptions options;
  options.pool = value_or_throw(net::parse_url(flags.connect));
  options.node.name = name;
  options.node.slots = static_cast<std::uint16_t>(slots);
  options.node.program_version = WIDE_VERSION;
  options.samples_folder = flags.samples_folder;
  if (flags.samples_folder.empty() && !flags.job_file.empty()) {
    options.sample_files = net::files_as_named(read_job_file(flags.job_file));
  }
  if (flags.cache_gib) options.cache_bytes_max = bytes_of_gib(*flags.cache_gib);
  options.cache_folder =
      data::cache_folder(environment.value("XDG_CACHE_HOME"), environment.value("HOME"));
  return options;
}

namespace {
// Divergence is the pool's finding, and the pool of a local node says it on the same terminal.
bool already_said(const Error& error, const net::NodeClientOptions& options) {
  return options.quiet && error.code == Errc::kDiverged;
}

// What a node did, at its end: local nodes leave that to their pool's summary.
void say_end(const net::NodeClient& client, bool quiet, bool json) {
  const auto report = client.report();
  if (json) {
    const nlohmann::ordered_json object = {{"job", report.job},
                                           {"name", report.name},
                                           {"units", report.units},
                                           {"fetched_chunks", report.fetched_chunks},
                                           {"fetched_bytes", report.fetched_bytes},
                                           {"interrupted", client.interrupted()}};
    fmt::print("{}\n", object.dump(2));
  } else if (!quiet) {
    log::info("{} name={} units={} fetched_bytes={}",
              client.interrupted() ? "left" : "the run is over", report.name, report.units,
              report.fetched_bytes);
  }
}

ExitCode work(const net::NodeClientOptions& options, const std::string& model_file, bool json) {
  net::NodeClient client(options, torch_tools(model_file));
  try {
    client.run();
  } catch (const Failure& failure) {
    if (!already_said(failure.error(), options)) throw;
    return exit_code_of(failure.error());
  }
  say_end(client, options.quiet, json);
  return client.interrupted() ? ExitCode::kInterrupted : ExitCode::kOk;
}
}  // namespace

int run_node(const net::NodeClientOptions& options, const std::string& model_file, bool json) {
  return run_reporting_errors(json, [&] { return work(options, model_file, json); });
}

}  // namespace wide::apps
