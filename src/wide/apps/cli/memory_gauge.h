#pragma once
// The most memory that this process and its nodes held at once, as the kernel shares it out (the
// proportional set size: a page that ten processes map counts a tenth for each).
//
// Looks about twice a second on a thread of its own; less often where looking is slow, so that
// measuring never takes more than a fiftieth of a core.

#include <sys/types.h>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>

namespace wide::apps {

class MemoryGauge final {
 public:
  explicit MemoryGauge(std::optional<pid_t> nodes_root);
  ~MemoryGauge();
  MemoryGauge(const MemoryGauge&) = delete;
  MemoryGauge& operator=(const MemoryGauge&) = delete;

  std::uint64_t stop();  // the peak, in bytes

 private:
  void watch();
  void look();

  std::optional<pid_t> nodes_root_;
  std::mutex mutex_;
  std::condition_variable stopping_;
  bool stopped_ = false;
  std::uint64_t peak_bytes_ = 0;
  std::thread watcher_;
};

}  // namespace wide::apps
