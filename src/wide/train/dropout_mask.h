#pragma once
// Dropout with numbers of our own: torch's draws come from one generator per process, which slots
// would share. Here a mask is a pure function of (seed, step, unit, layer).

#include <cstdint>
#include <span>

#include "wide/base/ids.h"
#include "wide/base/philox.h"

namespace wide::train {

// The stream of the layer-th dropout of a unit.
RandomStream dropout_stream(std::uint64_t seed, Step step, Unit unit, std::uint32_t layer);

// mask[i] = uniform(i) >= probability ? 1 / (1 - probability) : 0
void fill_dropout_mask(const RandomStream& stream, float probability, std::span<float> mask);
void fill_dropout_mask_reference(const RandomStream& stream, float probability,
                                 std::span<float> mask);

}  // namespace wide::train
