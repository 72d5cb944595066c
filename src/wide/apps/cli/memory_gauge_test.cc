#include "wide/apps/cli/memory_gauge.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace wide::apps {
namespace {

// Ended, and not buried yet: it is still there to be asked, but has nothing to say.
class EndedProcess final {
 public:
  EndedProcess() : pid_(fork()) {
    if (pid_ == 0) _exit(0);
    siginfo_t seen{};
    waitid(P_PID, static_cast<id_t>(pid_), &seen, WEXITED | WNOWAIT);
  }
  ~EndedProcess() { waitpid(pid_, nullptr, 0); }
  EndedProcess(const EndedProcess&) = delete;
  EndedProcess& operator=(const EndedProcess&) = delete;

  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

TEST(MemoryGauge, SurvivesProcessesThatEndWhileItLooks) {
  const EndedProcess ended;

  MemoryGauge gauge(ended.pid());

  EXPECT_GT(gauge.stop(), 0u) << "this process itself";
}

}  // namespace
}  // namespace wide::apps
