#include "wide/sim/sim_run.h"

#include <fmt/format.h>

#include "wide/sim/reference.h"
#include "wide/sim/world.h"

namespace wide::sim {

SimReport simulate(const SimPlan& plan, const Teller& teller) {
  Reference reference(plan.job, plan.space);
  return World(plan, reference, teller).run();
}

SimReport run_seed(std::uint64_t seed, const Teller& teller) {
  const SimPlan plan = draw_plan(seed);
  Reference reference(plan.job, plan.space);
  SimReport report = World(plan, reference, teller).run();
  const SimReport again = World(plan, reference, {}).run();
  if (again.trace_hash != report.trace_hash || again.events != report.events) {
    report.violations.push_back(fmt::format(
        "I15: the same seed went another way: {} events, then {}", report.events, again.events));
  }
  return report;
}

}  // namespace wide::sim
