#pragma once
// A pool with a crowd on its doorstep: what each connection costs it. Every trial has pools of its
// own, real ones in processes of their own; the crowd is in this process.

#include <cstddef>

#include "wide/apps/edge/environment.h"

namespace wide::apps::bench {

// Joined, and nothing else: they never ask for work. Then all of them ask small questions at once.
struct IdleTrial {
  std::size_t connections = 0;
  double private_bytes_each = 0;       // of the pool's process
  double proportional_bytes_each = 0;  // likewise
  double kernel_bytes_each = 0;        // sockets and what belongs to them: of both ends
  double requests_per_second = 0;
  double cpu_seconds_each = 0;  // of the pool, per request
};
IdleTrial try_idle(std::size_t connections, double seconds, const Environment& environment);

struct WorkTrial {
  std::size_t connections = 0;
  double commits_per_second = 0;
  double units_per_second = 0;
  double cpu_seconds_per_unit = 0;  // of the pool
};
// Everyone works: a step has a unit for each; where they are more than a thousand, a thousand
// units, which go to those who have waited longest.
WorkTrial try_working(std::size_t connections, double seconds, const Environment& environment);

// Ten work, alone and beside the others, who are idle: in turns.
struct BesideTrial {
  WorkTrial alone;
  WorkTrial beside;
  double ratio = 0;  // of commits per second: the median of neighbours in time
};
BesideTrial try_beside(std::size_t connections, double seconds, const Environment& environment);

}  // namespace wide::apps::bench
