#pragma once
// What cores lose by waiting for each other. The cores of a shared machine are not equally fast at
// any one moment (whoever has the other half of a core slows it down), so workers with equal parts
// that meet after every step go at the pace of the slowest, however little meeting costs. This is
// the bound for any pool that trains in steps; slots that compute alone do not know it.

#include <span>
#include <vector>

namespace wide::apps::bench {

// When a core that never waits was done with each of its tasks, in seconds. Never empty.
using Completions = std::vector<double>;

// How much of what they do alone cores would do that meet after every `tasks_per_step` of each, and
// may be `steps_ahead` steps ahead of the slowest. Meeting itself costs nothing here.
double lockstep_share(std::span<const Completions> cores, double tasks_per_step, int steps_ahead);

// Every core at work for so long, on tasks of about a tenth of a millisecond.
std::vector<Completions> watch_cores(double seconds);

}  // namespace wide::apps::bench
