#pragma once
// `wide bench scale`: a pool with 10 to 10,000 connections, idle and at work: what each of them
// takes of its memory and its time, and how that grows with their number.

#include <utility>
#include <vector>

#include "wide/apps/cli/bench/report.h"
#include "wide/apps/edge/environment.h"

namespace wide::apps::bench {

Report bench_scale(double seconds, const Environment& environment);

// k of the curve y = c · x^k that comes nearest to these points, all of them above 0, by least
// squares of logarithms: 0 does not grow, 1 grows as x does. Pure.
double exponent(const std::vector<std::pair<double, double>>& points);

}  // namespace wide::apps::bench
