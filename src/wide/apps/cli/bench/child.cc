#include "wide/apps/cli/bench/child.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "wide/apps/cli/bench/give_up.h"

namespace wide::apps::bench {

Child::Child(const std::function<void()>& body, Fate fate) {
  const pid_t parent = getpid();
  id_ = fork();
  if (id_ < 0) give_up("a second process");
  if (id_ > 0) return;
  if (fate == Fate::kKilled) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);  // it died before we asked to be told
  }
  body();
  _exit(127);
}

Child::~Child() {
  if (waited_for_) return;
  kill(id_, SIGKILL);
  wait();
}

void Child::stand_still() const { kill(id_, SIGSTOP); }
void Child::go_on() const { kill(id_, SIGCONT); }

int Child::wait() {
  int status = 0;
  while (waitpid(id_, &status, 0) < 0 && errno == EINTR) continue;
  waited_for_ = true;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace wide::apps::bench
