#include "wide/apps/cli/bench/turns.h"

#include <algorithm>
#include <utility>

#include "wide/base/check.h"

namespace wide::apps::bench {

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

}  // namespace wide::apps::bench
