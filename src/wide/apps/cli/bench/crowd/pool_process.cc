#include "wide/apps/cli/bench/crowd/pool_process.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>

#include "wide/apps/cli/bench/crowd/loopback.h"
#include "wide/apps/cli/node_program.h"
#include "wide/apps/edge/this_machine.h"
#include "wide/base/error.h"
#include "wide/net/endpoint.h"
#include "wide/store/atomic_file.h"

namespace wide::apps::bench {

namespace {

constexpr int kPatienceMs = 20'000;
constexpr std::string_view kJoin = "wide join ";

NodeCall call_of(const ScratchFolder& folder, const std::vector<std::string>& flags,
                 const Environment& environment) {
  NodeCall call;
  call.program = this_program();
  call.environment = environment;
  call.arguments = {"pool",  folder / "job.toml", "--listen", "127.0.0.1:0",
                    "--out", folder / "run",      "--log",    "silent"};
  call.arguments.insert(call.arguments.end(), flags.begin(), flags.end());
  return call;
}

// Up to the end of the line; what came until then where nothing more does.
std::string first_line(int from) {
  std::string line;
  pollfd watched{from, POLLIN, 0};
  for (char letter = 0; ::poll(&watched, 1, kPatienceMs) == 1 && ::read(from, &letter, 1) == 1;) {
    if (letter == '\n') break;
    line += letter;
  }
  return line;
}

std::uint16_t port_in(const std::string& line) {
  if (!line.starts_with(kJoin)) {
    throw Failure(Errc::kMachine, "`wide pool` did not say where it listens");
  }
  return value_or_throw(net::parse_url(line.substr(kJoin.size()))).port;
}

pid_t begin(const NodeCall& call, int said) {
  const ExecArrays arrays(call);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) give_up("a second process");
  if (child == 0) {  // only calls that are safe between fork and exec
    die_with(parent);
    ::dup2(said, STDOUT_FILENO);
    ::execve(call.program.c_str(), arrays.argv(), arrays.envp());
    ::_exit(127);
  }
  return child;
}

}  // namespace

PoolProcess::PoolProcess(const std::string& job_text, const std::vector<std::string>& flags,
                         const Environment& environment)
    : folder_(environment), process_(start(job_text, flags, environment)) {
  port_ = port_in(first_line(said_.number()));
}

pid_t PoolProcess::start(const std::string& job_text, const std::vector<std::string>& flags,
                         const Environment& environment) {
  value_or_throw(store::write_atomically(folder_ / "job.toml", job_text));
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) give_up("a pipe");
  said_ = Descriptor(ends[0]);
  const Descriptor theirs(ends[1]);
  return begin(call_of(folder_, flags, environment), theirs.number());
}

}  // namespace wide::apps::bench
