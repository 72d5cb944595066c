#include "wide/apps/cli/memory_gauge.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <iterator>
#include <new>
#include <sstream>
#include <string>

namespace wide::apps {

namespace {
using SteadyClock = std::chrono::steady_clock;
constexpr SteadyClock::duration kLookEvery = std::chrono::milliseconds(500);
constexpr int kRestPerLook = 50;

// Not by a stream: a process that ends while it is looked at makes the read fail, and a stream
// would throw.
std::string read_text(const std::string& path) {
  std::string text;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return text;
  std::array<char, 4096> piece;
  for (ssize_t count = 0; (count = read(file, piece.data(), piece.size())) > 0;) {
    text.append(piece.data(), static_cast<std::size_t>(count));
  }
  close(file);
  return text;
}

std::uint64_t held_by(pid_t process) {
  return pss_bytes(read_text(fmt::format("/proc/{}/smaps_rollup", process)));
}

std::vector<pid_t> children_of(pid_t process) {
  std::istringstream text(read_text(fmt::format("/proc/{0}/task/{0}/children", process)));
  return {std::istream_iterator<pid_t>(text), {}};
}
}  // namespace

std::uint64_t pss_bytes(std::string_view smaps_rollup) {
  constexpr std::string_view kLabel = "\nPss:";
  auto at = smaps_rollup.find(kLabel);
  if (at == std::string_view::npos) return 0;
  at = smaps_rollup.find_first_of("0123456789", at + kLabel.size());
  if (at == std::string_view::npos) return 0;
  std::uint64_t kib = 0;
  std::from_chars(smaps_rollup.data() + at, smaps_rollup.data() + smaps_rollup.size(), kib);
  return kib * 1024;
}

std::vector<pid_t> family(pid_t root) {
  std::vector<pid_t> members = {root};
  for (std::size_t at = 0; at < members.size(); ++at) {
    const auto children = children_of(members[at]);
    members.insert(members.end(), children.begin(), children.end());
  }
  return members;
}

MemoryGauge::MemoryGauge(std::optional<pid_t> nodes_root)
    : nodes_root_(nodes_root), watcher_([this] { watch(); }) {}

MemoryGauge::~MemoryGauge() { stop(); }

std::uint64_t MemoryGauge::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  stopping_.notify_all();
  if (watcher_.joinable()) watcher_.join();
  return peak_bytes_;
}

void MemoryGauge::look() {
  std::uint64_t sum = held_by(getpid());
  if (nodes_root_) {
    for (const pid_t process : family(*nodes_root_)) sum += held_by(process);
  }
  peak_bytes_ = std::max(peak_bytes_, sum);
}

void MemoryGauge::watch() {
  std::unique_lock lock(mutex_);
  do {
    const auto began = SteadyClock::now();
    try {
      look();
    } catch (const std::bad_alloc&) {  // the run does not end for the lack of a figure
    }
    const auto rest = std::max(kLookEvery, (SteadyClock::now() - began) * kRestPerLook);
    stopping_.wait_for(lock, rest, [this] { return stopped_; });
  } while (!stopped_);
}

}  // namespace wide::apps
