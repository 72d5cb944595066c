#include "wide/apps/cli/bench/crowd/crowd_trials.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "wide/apps/cli/bench/crowd/callers.h"
#include "wide/apps/cli/bench/crowd/pool_process.h"
#include "wide/apps/cli/bench/crowd/small_job.h"
#include "wide/apps/cli/bench/crowd/stub_crowd.h"
#include "wide/apps/cli/bench/turns.h"
#include "wide/base/error.h"

namespace wide::apps::bench {

namespace {

constexpr std::size_t kWorkersBeside = 10;
constexpr std::size_t kUnitsMost = 1'000;  // of a step
constexpr int kRounds = 9;
constexpr double kUnmeasured = 0.2;  // of a turn or a trial, at its beginning
constexpr double kPatience = 20;     // seconds to the next commit

// The number behind a word, in a file of /proc.
double figure_in(const char* path, const std::string& before) {
  std::ifstream file(path);
  for (std::string word; file >> word;) {
    double figure = 0;
    if (word == before && file >> figure) return figure;
    file.clear();
  }
  return 0;
}

// What the kernel holds for everyone: its small objects, and what lies in TCP's queues.
double kernel_bytes() {
  return figure_in("/proc/meminfo", "Slab:") * 1024 +
         figure_in("/proc/net/sockstat", "mem") * static_cast<double>(sysconf(_SC_PAGESIZE));
}

// A pool, those who work for it, and those who do not.
class Site final {
 public:
  // Leases of one unit each: everyone has as much to do as the others.
  Site(std::uint32_t units, const Environment& environment)
      : units_(units),
        job_(small_job(units)),
        pool_(job_, {"--lease-blocks", "1"}, environment),
        first_(poller_, pool_.port(), 1, Manners::kNode) {}

  const Child& pool() const { return pool_.process(); }
  Callers& invite_idle(std::size_t count) {
    return callers_.emplace(poller_, pool_.port(), count, Manners::kNode);
  }
  void invite_workers(std::size_t count) { workers_.emplace(poller_, pool_.port(), count, job_); }

  void go_on_for(double seconds) {
    for (const auto began = Clock::now(); since(began) < seconds;) poller_.turn(5);
  }

  // From one commit to another, so that there is one even where a step takes longer than a turn.
  WorkTrial measure(double seconds) {
    go_on_for(seconds * kUnmeasured);
    go_on_to_a_commit();
    const auto began = Clock::now();
    const Step step_before = workers_->step();
    const double cpu_before = pool().cpu_seconds();
    go_on_for(seconds * (1 - kUnmeasured));
    go_on_to_a_commit();
    const auto commits = static_cast<double>(workers_->step() - step_before);
    WorkTrial trial;
    trial.commits_per_second = commits / since(began);
    trial.units_per_second = trial.commits_per_second * units_;
    trial.cpu_seconds_per_unit = (pool().cpu_seconds() - cpu_before) / (commits * units_);
    return trial;
  }

 private:
  void go_on_to_a_commit() {
    const Step before = workers_->step();
    for (const auto began = Clock::now(); workers_->step() == before;) {
      if (since(began) > kPatience) {
        throw Failure(Errc::kPoolUnreachable,
                      fmt::format("no step was committed in {} s", kPatience));
      }
      poller_.turn(5);
    }
  }

  std::uint32_t units_;
  std::string job_;
  PoolProcess pool_;
  Poller poller_;
  Callers first_;  // with it comes what a pool needs once, however many come later
  std::optional<Callers> callers_;
  std::optional<StubCrowd> workers_;
};

WorkTrial median_of(const std::vector<WorkTrial>& trials) {
  const auto middle = [&](double WorkTrial::*figure) {
    std::vector<double> figures;
    for (const auto& trial : trials) figures.push_back(trial.*figure);
    return median(std::move(figures));
  };
  return {.connections = 0,
          .commits_per_second = middle(&WorkTrial::commits_per_second),
          .units_per_second = middle(&WorkTrial::units_per_second),
          .cpu_seconds_per_unit = middle(&WorkTrial::cpu_seconds_per_unit)};
}

// The others stand still meanwhile: a crowd that only waits takes time, too.
WorkTrial take_turn(Site& site, double seconds) {
  site.pool().go_on();
  const WorkTrial trial = site.measure(seconds);
  site.pool().stand_still();
  return trial;
}

}  // namespace

IdleTrial try_idle(std::size_t connections, double seconds, const Environment& environment) {
  Site site(kWorkersBeside, environment);
  const Memory before = site.pool().memory();
  const double kernel_before = kernel_bytes();
  Callers& callers = site.invite_idle(connections);
  const Memory after = site.pool().memory();
  const auto count = static_cast<double>(connections);
  IdleTrial trial;
  trial.connections = connections;
  trial.private_bytes_each =
      (static_cast<double>(after.private_bytes) - static_cast<double>(before.private_bytes)) /
      count;
  trial.proportional_bytes_each = (static_cast<double>(after.proportional_bytes) -
                                   static_cast<double>(before.proportional_bytes)) /
                                  count;
  trial.kernel_bytes_each = (kernel_bytes() - kernel_before) / count;
  const double cpu_before = site.pool().cpu_seconds();
  const Asked asked = callers.ask(seconds);
  trial.requests_per_second = asked.per_second();
  trial.cpu_seconds_each =
      (site.pool().cpu_seconds() - cpu_before) / static_cast<double>(asked.answers);
  return trial;
}

WorkTrial try_working(std::size_t connections, double seconds, const Environment& environment) {
  Site site(static_cast<std::uint32_t>(std::min(connections, kUnitsMost)), environment);
  site.invite_workers(connections);
  WorkTrial trial = site.measure(seconds);
  trial.connections = connections;
  return trial;
}

BesideTrial try_beside(std::size_t connections, double seconds, const Environment& environment) {
  Site alone(kWorkersBeside, environment);
  alone.invite_workers(kWorkersBeside);
  alone.pool().stand_still();
  Site beside(kWorkersBeside, environment);
  beside.invite_idle(connections - kWorkersBeside);
  beside.invite_workers(kWorkersBeside);
  beside.pool().stand_still();
  std::vector<WorkTrial> of_alone;
  std::vector<WorkTrial> of_beside;
  std::vector<double> ratios;
  for (int round = 0; round < kRounds; ++round) {
    of_alone.push_back(take_turn(alone, seconds / (2 * kRounds)));
    of_beside.push_back(take_turn(beside, seconds / (2 * kRounds)));
    ratios.push_back(of_beside.back().commits_per_second / of_alone.back().commits_per_second);
  }
  BesideTrial trial{median_of(of_alone), median_of(of_beside), median(std::move(ratios))};
  trial.alone.connections = kWorkersBeside;
  trial.beside.connections = connections;
  return trial;
}

}  // namespace wide::apps::bench
