#include "wide/apps/cli/bench/crowd/pool_process.h"

#include "wide/apps/edge/this_machine.h"
#include "wide/base/error.h"
#include "wide/net/endpoint.h"
#include "wide/store/atomic_file.h"

namespace wide::apps::bench {

namespace {

constexpr Patience kPatience(20);
constexpr std::string_view kJoin = "wide join ";

NodeCall call_of(const ScratchFolder& folder, const std::string& job_text,
                 const std::vector<std::string>& flags, const Environment& environment) {
  value_or_throw(store::write_atomically(folder / "job.toml", job_text));
  NodeCall call;
  call.program = this_program();
  call.environment = environment;
  call.arguments = {"pool",  folder / "job.toml", "--listen", "127.0.0.1:0",
                    "--out", folder / "run",      "--log",    "silent"};
  call.arguments.insert(call.arguments.end(), flags.begin(), flags.end());
  return call;
}

std::uint16_t port_in(const std::string& line) {
  if (!line.starts_with(kJoin)) {
    throw Failure(Errc::kMachine, "`wide pool` did not say where it listens");
  }
  return value_or_throw(net::parse_url(line.substr(kJoin.size()))).port;
}

}  // namespace

PoolProcess::PoolProcess(const std::string& job_text, const std::vector<std::string>& flags,
                         const Environment& environment)
    : folder_(environment),
      program_(call_of(folder_, job_text, flags, environment)),
      port_(port_in(program_.hear(kPatience))) {}

}  // namespace wide::apps::bench
