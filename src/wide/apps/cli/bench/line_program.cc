#include "wide/apps/cli/bench/line_program.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "wide/apps/cli/bench/give_up.h"
#include "wide/base/error.h"

namespace wide::apps::bench {

namespace {
using Clock = std::chrono::steady_clock;

constexpr Patience kLastPatience(10);

[[noreturn]] void fail(const std::string& name, const std::string& what) {
  throw Failure(Errc::kMachine, name + " " + what);
}

Clock::time_point moment_after(Patience patience) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(patience);
}

bool is_ready_by(int file, Clock::time_point until) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    pollfd question{file, POLLIN, 0};
    const int count = poll(&question, 1, static_cast<int>(std::max<long>(0, left.count())));
    if (count >= 0 || errno != EINTR) return count > 0;
  }
}

// Between fork and exec: only calls that are safe there.
void become_program(const NodeCall& call, const ExecArrays& arrays, int line) {
  dup2(line, STDIN_FILENO);
  dup2(line, STDOUT_FILENO);
  if (call.quiet) dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
  execve(call.program.c_str(), arrays.argv(), arrays.envp());
}

}  // namespace

LineProgram::Line LineProgram::lay_line() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) give_up("two sockets");
  return {store::Descriptor(ends[0]), store::Descriptor(ends[1])};
}

LineProgram::LineProgram(const NodeCall& call, Child::Fate fate)
    : LineProgram(call, fate, lay_line()) {}

LineProgram::LineProgram(const NodeCall& call, Child::Fate fate, Line line)
    : name_(call.program.filename()),
      fate_(fate),
      child_([&, arrays = ExecArrays(call)] { become_program(call, arrays, line.theirs.number()); },
             fate),
      line_(std::move(line.ours)),
      watched_(static_cast<int>(::syscall(SYS_pidfd_open, child_.id(), 0))) {}

LineProgram::~LineProgram() {
  line_ = store::Descriptor();
  if (fate_ == Child::Fate::kStays) has_ended_within(kLastPatience);
}

void LineProgram::say(const std::string& line) {
  const std::string whole = line + "\n";
  for (std::size_t sent = 0; sent < whole.size();) {
    const auto count = send(line_.number(), whole.data() + sent, whole.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail(name_, "does not listen");
    sent += static_cast<std::size_t>(count);
  }
}

bool LineProgram::read_some(Clock::time_point until) {
  if (!is_ready_by(line_.number(), until)) fail(name_, "said nothing for too long");
  std::array<char, 16384> piece{};
  const auto count = read(line_.number(), piece.data(), piece.size());
  if (count < 0 && errno == EINTR) return true;
  if (count <= 0) return false;
  heard_.append(piece.data(), static_cast<std::size_t>(count));
  return true;
}

std::string LineProgram::hear(Patience patience) {
  const auto until = moment_after(patience);
  std::size_t end = heard_.find('\n');
  while (end == std::string::npos) {
    if (!read_some(until)) fail(name_, "ended without an answer");
    end = heard_.find('\n');
  }
  const std::string line = heard_.substr(0, end);
  heard_.erase(0, end + 1);
  return line;
}

std::string LineProgram::hear_all(Patience patience) {
  const auto until = moment_after(patience);
  while (read_some(until)) continue;
  return std::exchange(heard_, {});
}

bool LineProgram::has_ended_within(Patience patience) {
  return is_ready_by(watched_.number(), moment_after(patience));
}

int LineProgram::exit_code(Patience patience) {
  if (!has_ended_within(patience)) fail(name_, "did not come to its end");
  return child_.wait();
}

}  // namespace wide::apps::bench
