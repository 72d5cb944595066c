#include "wide/apps/edge/this_machine.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

namespace wide::apps {

std::uint32_t cores_available() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof cores, &cores) == 0) {
    return static_cast<std::uint32_t>(std::max(1, CPU_COUNT(&cores)));
  }
  return static_cast<std::uint32_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "node";
  return name.data();
}

std::filesystem::path this_program() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error);
}

std::uint32_t thread_count() {
  std::error_code error;
  const std::filesystem::directory_iterator threads("/proc/self/task", error);
  return error ? 1 : static_cast<std::uint32_t>(std::distance(begin(threads), end(threads)));
}

std::size_t raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  const auto before = std::exchange(limit.rlim_cur, limit.rlim_max);
  if (before < limit.rlim_max && setrlimit(RLIMIT_NOFILE, &limit) != 0) return before;
  return limit.rlim_cur;
}

}  // namespace wide::apps
