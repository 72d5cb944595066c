#pragma once
// When to copy a lease to an idle node: only past 1.5 × the 95th percentile of what its holder
// usually takes (of what the pool's nodes take, until the holder has eight results), never before
// any result at all. The first valid result wins.

#include <optional>

#include "wide/base/clock.h"
#include "wide/base/ids.h"
#include "wide/base/stats.h"

namespace wide::engine {

// How long a lease of so many pieces may be out before it is copied; nothing: for ever.
// Histories hold the time per piece.
std::optional<Duration> hedge_after(const DurationHistory& holder, const DurationHistory& pool,
                                    Block piece_count);

}  // namespace wide::engine
