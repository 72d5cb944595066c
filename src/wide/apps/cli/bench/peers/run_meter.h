#pragma once
// What processes cost while they train, seen from outside: a few looks a second at their CPU time
// and at what their network device has sent. Costs are told of a span in the middle of training, so
// that neither start-up nor the end counts.

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace wide::apps::bench {

class RunMeter final {
 public:
  struct Costs {
    double cpu_per_second = 0;
    double bytes_per_second = 0;
  };

  // These and all that descend from them. The device is one for all, or each has its own of that
  // name, in its own network namespace.
  enum class Device { kShared, kOwn };
  RunMeter(std::vector<pid_t> roots, std::string name, Device device)
      : roots_(std::move(roots)), name_(std::move(name)), device_(device) {}

  void look();
  void look_at_memory();  // slow: some milliseconds for each process

  // From the look nearest to `most` seconds before the last at which all were there, until that
  // nearest to `least` before it. Zeros where there are too few.
  Costs costs(double most, double least) const;
  double memory_bytes_peak() const { return memory_bytes_peak_; }

 private:
  struct Reading {
    double seconds = 0;
    double cpu_seconds = 0;
    double sent_bytes = 0;
    std::size_t processes = 0;
  };
  double sent_bytes() const;
  const Reading& at(double seconds) const;
  double last_full_seconds() const;

  std::vector<pid_t> roots_;
  std::string name_;
  Device device_;
  std::vector<Reading> readings_;
  double memory_bytes_peak_ = 0;
};

}  // namespace wide::apps::bench
