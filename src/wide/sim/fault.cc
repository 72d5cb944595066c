#include "wide/sim/fault.h"

namespace wide::sim {

namespace {

constexpr std::array<std::string_view, kFaultCount> kNames = {
    "reset",         "black hole",        "one-way partition", "clog",         "slow reader",
    "single bytes",  "bit flip",          "lost call",         "append error", "read error",
    "sync error",    "name error",        "disk full",         "slow disk",    "lost writes",
    "torn writes",   "lost names",        "bit rot",           "pool kill",    "pool power cut",
    "crash in disk", "crash in recovery", "pool pause",        "pool stop",    "node kill",
    "node vanish",   "node leave",        "node pause",        "slow node",    "stalled lease",
    "lost replica",  "repeated result",   "wrong step",        "wrong block",  "wrong count",
    "wrong chain",   "unknown lease",     "not finite",        "out of order", "garbage",
};

}  // namespace

std::string_view fault_name(Fault fault) { return kNames[static_cast<std::size_t>(fault)]; }

}  // namespace wide::sim
