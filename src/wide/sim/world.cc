#include "wide/sim/world.h"

#include <fmt/format.h>

#include <utility>

namespace wide::sim {

namespace {

using namespace std::chrono_literals;

// Once faults end: silence is noticed, the longest pause before a call is over, a snapshot travels,
// and what is left is computed.
constexpr Duration kFinishMax = 300s;
constexpr std::uint64_t kEventsMax = 3'000'000;

}  // namespace

World::World(const SimPlan& plan, Reference& reference, const Teller& teller)
    : plan_(plan),
      stage_(plan.seed),
      net_(stage_, plan.net),
      disk_(stage_.dice.fork(), stage_.faults),
      oracle_(stage_, plan_, reference, disk_),
      pool_(stage_, net_, disk_, plan_, reference, oracle_),
      nemesis_(stage_, net_, disk_, pool_, nodes_, plan_) {
  stage_.teller = teller;
  for (std::uint32_t machine = 0; machine < plan_.nodes; ++machine) {
    nodes_.push_back(std::make_unique<SimNode>(stage_, net_, plan_, reference, doubted_, machine));
    Distance distance = plan_.distance;
    const double part = machine + 1 == plan_.nodes ? 1 : stage_.dice.uniform();
    distance.latency = Duration(static_cast<std::int64_t>(double(distance.latency.count()) * part));
    net_.set_distance(machine, distance);
  }
}

bool World::goes_on() {
  if (pool_.over() || !stage_.violations.empty()) return false;
  if (stage_.now() - plan_.faults_end > kFinishMax || events_ > kEventsMax) {
    stage_.broke(
        fmt::format("I11: after {:.0f} s and {} events without faults the run is at step {}",
                    seconds(stage_.now() - plan_.faults_end), events_, oracle_.steps()));
    return false;
  }
  return stage_.queue.step();
}

SimReport World::run() {
  for (const auto& node : nodes_) {
    stage_.queue.after(stage_.dice.between(0ns, 50ms), [&node = *node] { node.start(); });
  }
  nemesis_.begin();
  stage_.queue.after(stage_.dice.between(0ns, 100ms), [this] { pool_.boot(); });
  while (goes_on()) {
    ++events_;
    pool_.check();
    if (net_.queued_bytes_most() > 2 * plan_.net.outbox_bytes_max) {
      stage_.broke(fmt::format("I9: {} bytes waited for a reader", net_.queued_bytes_most()));
    }
  }
  stage_.trace(0xe4d, disk_.hash());

  SimReport report;
  report.seed = plan_.seed;
  report.finished = pool_.over();
  report.summary = pool_.summary();
  report.violations = std::move(stage_.violations);
  report.faults = stage_.faults;
  report.steps = oracle_.steps();
  report.commits = oracle_.commit_count();
  report.pool = pool_.counts();
  report.events = events_;
  report.saved_bytes = net_.saved_bytes();
  report.simulated = stage_.now();
  report.trace_hash = stage_.trace_hash;
  return report;
}

}  // namespace wide::sim
