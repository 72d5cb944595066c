#pragma once
// N nodes from one loaded program: libtorch is in memory once, and each node costs only what it
// writes. They are forked before any thread starts, because a fork takes only the calling thread
// along, and locks that others held would stay held for ever.

#include <cstdint>
#include <functional>

namespace wide::apps {

// Forks `count` children that each run body(index) and exit with what it returns. The parent
// passes SIGTERM and SIGINT on, and returns 0 if all of them did, else the first other code. A
// child that a signal killed is replaced (within bounds: a node that crashes again and again is
// not worth it). The children die with the parent.
int fork_and_wait(std::uint32_t count, const std::function<int(std::uint32_t)>& body);

}  // namespace wide::apps
