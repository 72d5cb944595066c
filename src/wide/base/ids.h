#pragma once
// Ids are distinct types, so that a node's number cannot be passed for a lease's.

#include <compare>
#include <cstdint>
#include <functional>

namespace wide {

template <class Tag, class Rep>
struct Id {
  Rep value = 0;

  friend auto operator<=>(const Id&, const Id&) = default;
};

using NodeId = Id<struct NodeTag, std::uint32_t>;    // given by the pool, once per joined node
using LinkId = Id<struct LinkTag, std::uint64_t>;    // one TCP connection, never reused
using LeaseId = Id<struct LeaseTag, std::uint64_t>;  // never reused within a run

// Counters, not ids: arithmetic on them is meant.
using Step = std::uint64_t;   // updates applied so far; also the number of the step being gathered
using Block = std::uint32_t;  // index of a block within its step
using Unit = std::uint32_t;   // index of a unit within its step

}  // namespace wide

template <class Tag, class Rep>
struct std::hash<wide::Id<Tag, Rep>> {
  std::size_t operator()(const wide::Id<Tag, Rep>& id) const noexcept {
    return std::hash<Rep>{}(id.value);
  }
};
