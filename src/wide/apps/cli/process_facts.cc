#include "wide/apps/cli/process_facts.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <iterator>
#include <sstream>

#include "wide/store/descriptor.h"

namespace wide::apps {

// Not by a stream: a process that ends while it is looked at makes the read fail, and a stream
// would throw.
std::string read_proc(const std::string& path) {
  std::string text;
  const store::Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return text;
  std::array<char, 4096> piece;
  for (ssize_t count = 0; (count = read(file.number(), piece.data(), piece.size())) > 0;) {
    text.append(piece.data(), static_cast<std::size_t>(count));
  }
  return text;
}

Memory read_memory(std::string_view smaps_rollup) {
  Memory memory;
  std::istringstream lines{std::string(smaps_rollup)};
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

Memory memory_of(pid_t process) {
  return read_memory(read_proc(fmt::format("/proc/{}/smaps_rollup", process)));
}

double cpu_seconds_of(pid_t process) {
  clockid_t clock{};
  timespec span{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &span) != 0) return 0;
  return static_cast<double>(span.tv_sec) + static_cast<double>(span.tv_nsec) * 1e-9;
}

std::vector<pid_t> family(pid_t root) {
  std::vector<pid_t> members = {root};
  for (std::size_t at = 0; at < members.size(); ++at) {
    std::istringstream text(read_proc(fmt::format("/proc/{0}/task/{0}/children", members[at])));
    members.insert(members.end(), std::istream_iterator<pid_t>(text), {});
  }
  return members;
}

}  // namespace wide::apps
