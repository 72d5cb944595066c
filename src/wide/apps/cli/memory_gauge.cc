#include "wide/apps/cli/memory_gauge.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <new>

#include "wide/apps/cli/process_facts.h"

namespace wide::apps {

namespace {
using SteadyClock = std::chrono::steady_clock;
constexpr SteadyClock::duration kLookEvery = std::chrono::milliseconds(500);
constexpr int kRestPerLook = 200;  // the kernel walks every page of every node
}  // namespace

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
  std::uint64_t sum = memory_of(getpid()).proportional_bytes;
  if (nodes_root_) {
    for (const pid_t process : family(*nodes_root_)) sum += memory_of(process).proportional_bytes;
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
