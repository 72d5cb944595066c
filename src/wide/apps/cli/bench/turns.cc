#include "wide/apps/cli/bench/turns.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "wide/base/check.h"

namespace wide::apps::bench {

namespace {
using Clock = std::chrono::steady_clock;

double since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}
}  // namespace

void Turns::add(std::string name, Work work) {
  timed_.push_back({std::move(name), std::move(work), {}});
}

void Turns::run(const Pace& pace) {
  for (auto& one : timed_) one.work();
  const auto began = Clock::now();
  for (std::size_t round = 0; round < pace.rounds_least || since(began) < pace.seconds; ++round) {
    for (auto& one : timed_) {
      const auto turn_began = Clock::now();
      one.work();
      one.seconds.push_back(since(turn_began));
    }
  }
}

double Turns::median_seconds(const std::string& name) const {
  const auto found = std::ranges::find(timed_, name, &Timed::name);
  WIDE_CHECK(found != timed_.end());
  return median(found->seconds);
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace wide::apps::bench
