#include "wide/apps/cli/bench/crowd/child.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <fstream>
#include <iterator>
#include <sstream>

namespace wide::apps::bench {

Child::~Child() {
  if (process_ <= 0) return;
  kill(process_, SIGKILL);
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) continue;
}

void Child::stand_still() const { kill(process_, SIGSTOP); }
void Child::go_on() const { kill(process_, SIGCONT); }

double Child::cpu_seconds() const {
  clockid_t clock{};
  timespec span{};
  if (clock_getcpuclockid(process_, &clock) != 0 || clock_gettime(clock, &span) != 0) return 0;
  return static_cast<double>(span.tv_sec) + static_cast<double>(span.tv_nsec) * 1e-9;
}

Memory Child::memory() const {
  std::ifstream file(fmt::format("/proc/{}/smaps_rollup", process_));
  return read_memory({std::istreambuf_iterator<char>(file), {}});
}

void die_with(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // it died before we asked to be told
}

Memory read_memory(const std::string& smaps_rollup) {
  Memory memory;
  std::istringstream lines(smaps_rollup);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string label;
    std::uint64_t kib = 0;
    if (!(words >> label >> kib)) continue;
    if (label == "Pss:") memory.proportional_bytes = kib * 1024;
    if (label == "Private_Clean:" || label == "Private_Dirty:") memory.private_bytes += kib * 1024;
  }
  return memory;
}

}  // namespace wide::apps::bench
