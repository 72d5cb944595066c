#pragma once
// The one clock of the drivers: steady, never the wall's. What the engine calls `now`.

#include "wide/base/clock.h"

namespace wide::net {

inline Time steady_now() {
  return std::chrono::duration_cast<Time>(std::chrono::steady_clock::now().time_since_epoch());
}

// For timers, which want the clock's own type.
inline std::chrono::steady_clock::time_point time_point(Time time) {
  return std::chrono::steady_clock::time_point(
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(time));
}

}  // namespace wide::net
