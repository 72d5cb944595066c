#include "wide/apps/cli/local_nodes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "wide/base/error.h"

namespace wide::apps {

namespace {
// Runs in the child between fork and exec: only calls that are safe there.
[[noreturn]] void start_in_child(const char* program, const ExecArrays& arrays, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // it died before we asked to be told
  setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);  // stdout belongs to the pool's report
  close_range(3, ~0U, 0);              // the pool's sockets are not theirs
  execve(program, arrays.argv(), arrays.envp());
  _exit(127);
}

std::string describe_status(int status) {
  if (WIFEXITED(status)) return fmt::format("exit code {}", WEXITSTATUS(status));
  return fmt::format("signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
}
}  // namespace

LocalNodes::LocalNodes(const NodeCall& call) {
  const ExecArrays arrays(call);
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) start_in_child(call.program.c_str(), arrays, parent);
  if (pid_ < 0) {
    throw Failure(Errc::kMachine,
                  fmt::format("{} did not start: {}", call.program.string(), strerror(errno)));
  }
  setpgid(pid_, pid_);  // whichever of the two comes first
  watcher_ = std::thread([this] { watch(); });
}

LocalNodes::~LocalNodes() {
  signal_all(SIGKILL);
  watcher_.join();
}

// Waits without reaping, so that the number cannot belong to anyone else while a signal is sent.
void LocalNodes::watch() {
  siginfo_t seen{};
  while (waitid(P_PID, static_cast<id_t>(pid_), &seen, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
    continue;
  }
  const std::lock_guard lock(mutex_);
  kill(-pid_, SIGKILL);  // nodes whose parent was killed are of no use to anyone
  int status = 0;
  waitpid(pid_, &status, 0);
  ending_ = describe_status(status);
  changed_.notify_all();
}

std::optional<std::string> LocalNodes::ending() const {
  const std::lock_guard lock(mutex_);
  return ending_;
}

void LocalNodes::signal_all(int signal) {
  const std::lock_guard lock(mutex_);
  if (!ending_) kill(-pid_, signal);
}

bool LocalNodes::gone_within(Duration patience) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, patience, [this] { return ending_.has_value(); });
}

void LocalNodes::let_go(Duration patience) {
  if (gone_within(patience)) return;
  signal_all(SIGTERM);
  if (gone_within(std::chrono::seconds(1))) return;
  signal_all(SIGKILL);
  gone_within(std::chrono::seconds(5));
}

}  // namespace wide::apps
