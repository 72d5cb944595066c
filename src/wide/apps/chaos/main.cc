// `wide-chaos`: a bad network between nodes and a pool, for whoever wants to see what a run does
// about it. Prints where it listens, then, at the end, what it did.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "wide/apps/chaos/chaos_flags.h"
#include "wide/apps/edge/error_report.h"
#include "wide/apps/edge/log_flag.h"

namespace wide::apps {

namespace {
ExitCode run_chaos(const std::vector<std::string>& arguments) {
  ChaosFlags flags;
  CommandLine line(
      "wide-chaos", "",
      "A bad network between nodes and a pool: it listens, passes every connection on, "
      "and delays, cuts, repeats and damages what goes through. Faults are drawn from "
      "the seed, the number of the connection and the direction. The first line of "
      "stdout says where it listens; what it did comes when it is interrupted, or "
      "after --seconds.",
      "  wide-chaos --listen :7900 --to 127.0.0.1:7878 --delay-ms 80 --jitter-ms 20\n"
      "  wide join wide://127.0.0.1:7900\n"
      "  wide-chaos --to 127.0.0.1:7878 --chunk-bytes 1\n"
      "  wide-chaos --to 127.0.0.1:7878 --flip-every 1048576 --reset-every 4194304\n"
      "  wide-chaos --to 127.0.0.1:7878 --stall-every 5 --stall-ms 2000 --seconds 60 "
      "--json\n");
  flags.declare(line);
  if (!line.parse(arguments)) return ExitCode::kOk;
  log::set_level(log_level(flags.log));

  net::ChaosProxy proxy(proxy_options(flags));
  fmt::print("{}\n", proxy.bound().text());
  std::fflush(stdout);
  proxy.run();
  const auto& counts = proxy.counts();
  fmt::print("{}", flags.json ? counts_json(counts).dump() + "\n" : counts_text(counts));
  return ExitCode::kOk;
}
}  // namespace

}  // namespace wide::apps

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + std::max(argc, 1));
  const bool json = std::ranges::find(words, "--json") != words.end();
  return wide::apps::run_reporting_errors(json, [&] { return wide::apps::run_chaos(words); });
}
