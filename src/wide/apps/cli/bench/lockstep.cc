#include "wide/apps/cli/bench/lockstep.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>
#include <thread>

#include "wide/apps/cli/bench/turns.h"
#include "wide/apps/edge/this_machine.h"
#include "wide/base/check.h"
#include "wide/base/philox.h"

namespace wide::apps::bench {

namespace {

// How much of a core's work was done by then, in tasks: even between two completions.
class Progress final {
 public:
  explicit Progress(std::span<const double> done) : done_(done) {}

  double tasks_at(double time) const {
    const auto next = std::ranges::upper_bound(done_, time);
    const auto index = static_cast<std::size_t>(next - done_.begin());
    if (next == done_.end()) return static_cast<double>(index);
    const double before = index == 0 ? 0 : done_[index - 1];
    return static_cast<double>(index) + (time - before) / (*next - before);
  }
  // When it had done so many; nothing where it never did.
  std::optional<double> time_of(double tasks) const {
    const auto index = static_cast<std::size_t>(tasks);
    if (index >= done_.size()) return std::nullopt;
    const double before = index == 0 ? 0 : done_[index - 1];
    return before + (tasks - static_cast<double>(index)) * (done_[index] - before);
  }

 private:
  std::span<const double> done_;
};

// Nobody begins before `not_before`. Nothing: a core's record ends first.
std::optional<double> end_of_step(std::span<const Progress> cores, std::vector<double>& ready,
                                  double not_before, double tasks) {
  double end = 0;
  for (std::size_t i = 0; i < cores.size(); ++i) {
    const double begun = std::max(ready[i], not_before);
    const auto done = cores[i].time_of(cores[i].tasks_at(begun) + tasks);
    if (!done) return std::nullopt;
    ready[i] = *done;
    end = std::max(end, *done);
  }
  return end;
}

// Small sorts: loads, compares and branches, as in code that mostly decides what to call next.
class Task final {
 public:
  Task() {
    for (std::size_t i = 0; i < kCount; ++i) jumbled_[i] = stream_.normal(i);
  }
  void operator()() {
    sorted_ = jumbled_;
    std::ranges::sort(sorted_);
    keep_what_was_written();
  }

 private:
  static constexpr std::size_t kCount = 2000;
  RandomStream stream_{1, 0x434f5245, 0};
  std::vector<double> jumbled_ = std::vector<double>(kCount);
  std::vector<double> sorted_;
};

}  // namespace

double lockstep_share(std::span<const Completions> cores, double tasks_per_step, int steps_ahead) {
  WIDE_CHECK(!cores.empty() && tasks_per_step > 0 && steps_ahead >= 0);
  const std::vector<Progress> all(cores.begin(), cores.end());
  std::vector<double> ready(all.size(), 0.0);  // each core, for its next step
  std::deque<double> met(static_cast<std::size_t>(steps_ahead) + 1, 0.0);  // the last steps' ends
  double steps = 0;
  while (const auto end = end_of_step(all, ready, met.front(), tasks_per_step)) {
    met.push_back(*end);
    met.pop_front();
    ++steps;
  }
  double alone = 0;
  for (const auto& core : all) alone += core.tasks_at(met.back());
  return steps == 0 ? 0 : steps * tasks_per_step * static_cast<double>(all.size()) / alone;
}

std::vector<Completions> watch_cores(double seconds) {
  std::vector<Completions> cores(cores_available());
  std::vector<std::thread> threads;
  const auto began = Clock::now();
  for (auto& core : cores) {
    threads.emplace_back([&core, began, seconds] {
      Task task;
      do {
        task();
        core.push_back(since(began));
      } while (core.back() < seconds);
    });
  }
  for (auto& thread : threads) thread.join();
  return cores;
}

}  // namespace wide::apps::bench
