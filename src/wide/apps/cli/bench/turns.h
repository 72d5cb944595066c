#pragma once
// Times several pieces of work in turns: each once a round, so that a noisy neighbour meets all of
// them, and of each the median round counts. Compare what was timed together, and nothing else.

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "wide/base/median.h"

namespace wide::apps::bench {

struct Pace {
  std::size_t rounds_least = 7;
  double seconds = 0;  // go on for so long, where the least is done sooner
};

class Turns final {
 public:
  using Work = std::function<void()>;

  void add(std::string name, Work work);
  void run(const Pace& pace);  // once without looking at the clock, then the rounds

  double median_seconds(const std::string& name) const;  // WIDE_CHECKs that it was added
  // How much faster than `other` it was.
  double speed_over(const std::string& name, const std::string& other) const {
    return median_seconds(other) / median_seconds(name);
  }

 private:
  struct Timed {
    std::string name;
    Work work;
    std::vector<double> seconds;
  };
  std::vector<Timed> timed_;
};

using Clock = std::chrono::steady_clock;
inline double since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

// As if somebody read all memory now: what was written there counts as work.
inline void keep_what_was_written() { asm volatile("" : : : "memory"); }

}  // namespace wide::apps::bench
