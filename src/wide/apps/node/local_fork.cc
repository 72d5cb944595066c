#include "wide/apps/node/local_fork.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>

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

class Family final {
 public:
  Family(const std::function<int(std::uint32_t)>& body, const sigset_t& mask)
      : body_(body), mask_(mask), parent_(getpid()) {}

  void bear(std::uint32_t index) {
    const pid_t child = fork();
    if (child == 0) be_child(index, mask_, parent_, body_);
    if (child < 0) {
      pass_on(SIGKILL);
      throw Failure(Errc::kMachine, fmt::format("a node did not start: {}", strerror(errno)));
    }
    children_.emplace(child, index);
  }

  void pass_on(int signal) {
    leaving_ = true;
    for (const auto& [child, index] : children_) kill(child, signal);
  }

  // Whoever has ended; the first code that is not 0 stays.
  void reap() {
    int status = 0;
    for (pid_t child = 0; (child = waitpid(-1, &status, WNOHANG)) > 0;) {
      const auto found = children_.find(child);
      if (found == children_.end()) continue;
      const std::uint32_t index = found->second;
      children_.erase(found);
      if (WIFSIGNALED(status) && !leaving_ && replaced_ < kReplacedMax) {
        ++replaced_;
        log::info("a local node ended by signal {} ({}); another takes its place", WTERMSIG(status),
                  strsignal(WTERMSIG(status)));
        bear(index);
      } else if (code_ == 0) {
        code_ = code_of(status);
      }
    }
  }

  bool empty() const { return children_.empty(); }
  int code() const { return code_; }

 private:
  static constexpr std::uint32_t kReplacedMax = 100;

  const std::function<int(std::uint32_t)>& body_;
  const sigset_t& mask_;
  pid_t parent_;
  std::map<pid_t, std::uint32_t> children_;
  std::uint32_t replaced_ = 0;
  bool leaving_ = false;
  int code_ = 0;
};
}  // namespace

int fork_and_wait(std::uint32_t count, const std::function<int(std::uint32_t)>& body) {
  const sigset_t watched = family_signals();
  sigset_t before;
  sigprocmask(SIG_BLOCK, &watched, &before);
  Family family(body, before);
  for (std::uint32_t index = 0; index < count; ++index) family.bear(index);
  while (!family.empty()) {
    const int signal = sigwaitinfo(&watched, nullptr);
    if (signal == SIGTERM || signal == SIGINT) family.pass_on(signal);
    family.reap();
  }
  return family.code();
}

}  // namespace wide::apps
