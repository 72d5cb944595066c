#include "wide/apps/node/node_flags.h"

#include <fmt/format.h>

#include "wide/apps/edge/error_report.h"
#include "wide/apps/edge/log_flag.h"
#include "wide/train/torch_factory.h"

namespace wide::apps {

void NodeFlags::declare(CommandLine& line) {
  line.text("--connect", connect, "HOST:PORT of the pool");
  line.whole("--slots", slots, "compute threads; default 1");
  line.text("--name", name, "what the pool shows");
  line.text("--data", samples_folder, "where the samples lie on this machine");
  line.text("--log", log, "silent, normal or verbose");
  line.flag("--json", json, "errors as a JSON object on stdout, too");
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
  options.cache_folder =
      data::cache_folder(environment.value("XDG_CACHE_HOME"), environment.value("HOME"));
  return options;
}

namespace {
// Divergence is the pool's finding, and the pool of a local node says it on the same terminal.
bool already_said(const Error& error, const net::NodeClientOptions& options) {
  return options.quiet && error.code == Errc::kDiverged;
}

ExitCode work(const net::NodeClientOptions& options) {
  net::NodeClient client(options, train::make_torch_factory);
  try {
    client.run();
  } catch (const Failure& failure) {
    if (!already_said(failure.error(), options)) throw;
    return exit_code_of(failure.error());
  }
  return client.interrupted() ? ExitCode::kInterrupted : ExitCode::kOk;
}
}  // namespace

int run_node(const net::NodeClientOptions& options, bool json) {
  return run_reporting_errors(json, [&] { return work(options); });
}

}  // namespace wide::apps
