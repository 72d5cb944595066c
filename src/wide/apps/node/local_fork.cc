#include "wide/apps/node/local_fork.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "wide/base/error.h"
#include "wide/base/log.h"

namespace wide::apps {

namespace {
sigset_t family_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGCHLD}) sigaddset(&set, signal);
  return set;
}

[[noreturn]] void be_child(std::uint32_t index, const sigset_t& mask, pid_t parent,
                           const std::function<int(std::uint32_t)>& body) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // it died before we asked to be told
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  const int code = body(index);
  std::fflush(nullptr);
  _exit(code);  // not exit: what the parent loaded is the parent's to take down
}

int code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

// Reaps whoever has ended; the first code that is not 0 stays.
void reap(std::vector<pid_t>& children, int& code) {
  int status = 0;
  for (pid_t child = 0; (child = waitpid(-1, &status, WNOHANG)) > 0;) {
    std::erase(children, child);
    if (code == 0) code = code_of(status);
    if (WIFSIGNALED(status)) {
      log::info("a local node ended by signal {} ({})", WTERMSIG(status),
                strsignal(WTERMSIG(status)));
    }
  }
}
}  // namespace

int fork_and_wait(std::uint32_t count, const std::function<int(std::uint32_t)>& body) {
  const sigset_t watched = family_signals();
  sigset_t before;
  sigprocmask(SIG_BLOCK, &watched, &before);
  const pid_t parent = getpid();
  std::vector<pid_t> children;
  for (std::uint32_t index = 0; index < count; ++index) {
    const pid_t child = fork();
    if (child == 0) be_child(index, before, parent, body);
    if (child < 0) {
      for (const pid_t other : children) kill(other, SIGKILL);
      throw Failure(Errc::kMachine, fmt::format("a node did not start: {}", strerror(errno)));
    }
    children.push_back(child);
  }
  int code = 0;
  while (!children.empty()) {
    const int signal = sigwaitinfo(&watched, nullptr);
    if (signal == SIGTERM || signal == SIGINT) {
      for (const pid_t child : children) kill(child, signal);
    }
    reap(children, code);
  }
  return code;
}

}  // namespace wide::apps
