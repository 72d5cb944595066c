#include "wide/apps/cli/run_flags.h"

#include <fmt/format.h>

namespace wide::apps {

void RunFlags::declare_run(CommandLine& line, const Environment& environment) {
  line.text("--out", out, "the run folder; default runs/NAME-DATE-TIME",
            fallback(environment, "WIDE_OUT"));
  line.text("--data", samples_folder, "where the samples lie on this machine",
            fallback(environment, "WIDE_DATA"));
  line.flag("--efficiency", efficiency, "now and then, measure the same slots with no network");
  line.whole("--lease-blocks", lease_blocks, "force the size of leases");
  line.number("--checkpoint-seconds", checkpoint_seconds,
              "a checkpoint at least so often; default 60");
  report.declare(line, environment);
}

void RunFlags::declare_length(CommandLine& line) {
  line.whole("--steps", steps, "stop after so many steps");
  line.number("--epochs", epochs, "stop after so many passes over the samples");
  line.number("--seconds", seconds, "stop after so much time");
  line.whole("--seed", seed, "another seed than the job's");
}

void RunFlags::declare_local_nodes(CommandLine& line, const Environment& environment) {
  line.whole("--nodes", nodes, "node processes on this machine",
             fallback(environment, "WIDE_NODES"));
  line.whole("--slots", slots, "compute threads per node; default 1",
             fallback(environment, "WIDE_SLOTS"));
}

void RunFlags::declare_listen(CommandLine& line, const Environment& environment) {
  line.text("--listen", listen, "HOST:PORT where others may join",
            fallback(environment, "WIDE_LISTEN"));
  line.flag("--insecure", insecure, "allow an address that other machines can reach");
  line.flag("--resume", resume, "go on with the run in --out DIR, where its ledger ends");
}

engine::Job with_overrides(engine::Job job, const RunFlags& flags) {
  const int lengths =
      flags.steps.has_value() + flags.epochs.has_value() + flags.seconds.has_value();
  if (lengths > 1) throw Failure(Errc::kUsage, "one of --steps, --epochs and --seconds at a time");
  if (flags.steps == 0u || flags.epochs == 0.0 || flags.seconds == 0.0) {
    throw Failure(Errc::kUsage, "--steps, --epochs and --seconds must be above 0");
  }
  if (lengths == 1) {
    job.train.steps = flags.steps.value_or(0);
    job.train.epochs = flags.epochs.value_or(0);
    job.train.seconds = flags.seconds.value_or(0);
  }
  job.seed = flags.seed.value_or(job.seed);
  value_or_throw(engine::validate(job));
  return job;
}

net::Endpoint listen_endpoint(const RunFlags& flags, const net::Endpoint& otherwise) {
  if (flags.listen.empty()) return otherwise;
  auto endpoint = value_or_throw(net::parse_listen(flags.listen));
  if (!endpoint.is_loopback() && !flags.insecure) {
    throw Failure(Errc::kNeedsInsecure,
                  fmt::format("--listen {}: this version has no encryption and no join tokens, so "
                              "anyone who reaches the port could join and read the job; on a "
                              "network you trust, say --insecure",
                              flags.listen));
  }
  return endpoint;
}

std::uint32_t bounded(const std::string& flag, const std::optional<std::uint64_t>& value,
                      std::uint32_t otherwise, std::uint32_t most) {
  if (!value) return otherwise;
  if (*value >= 1 && *value <= most) return static_cast<std::uint32_t>(*value);
  throw Failure(Errc::kUsage, fmt::format("{} takes 1 to {}, not {}", flag, most, *value));
}

}  // namespace wide::apps
