#pragma once
// A run's progress in words: one live line for a terminal, key=value for a file. Pure.
//
//   step 120/375 [======>             ] 32% loss 0.4321  3,912 samples/s  2 nodes  0:42 left
//   progress state=training step=120 steps_total=375 epoch=0.64 loss=0.432100 …

#include <string>

#include "wide/engine/pool/summary.h"

namespace wide::apps {

// Never longer than `columns`, so that a terminal does not wrap it; the bar gives way first.
std::string live_line(const engine::Progress& progress, std::size_t columns);

std::string plain_line(const engine::Progress& progress);

// How much is done, from 0 to 1: by steps, or by time where the run ends by time.
double done_fraction(const engine::Progress& progress);

}  // namespace wide::apps
