#pragma once
// Time is a span since some fixed moment of the driver's choosing: a steady clock in net/,
// a counter in sim/. The engine never asks what time it is; it is told.

#include <chrono>

namespace wide {

using Time = std::chrono::nanoseconds;
using Duration = std::chrono::nanoseconds;

inline double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace wide
