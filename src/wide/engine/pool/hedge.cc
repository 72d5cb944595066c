#include "wide/engine/pool/hedge.h"

#include <algorithm>

namespace wide::engine {

namespace {
constexpr std::size_t kEnoughResults = 8;
// Below this a copy costs more than it can save, and the scheduler's own jitter looks like a fault.
constexpr Duration kFloor = std::chrono::milliseconds(20);
}  // namespace

std::optional<Duration> hedge_after(const DurationHistory& holder, const DurationHistory& pool,
                                    Block piece_count) {
  const DurationHistory& history = holder.count() >= kEnoughResults ? holder : pool;
  if (history.count() == 0) return std::nullopt;
  return std::max(kFloor, history.p95() * piece_count * 3 / 2);
}

}  // namespace wide::engine
