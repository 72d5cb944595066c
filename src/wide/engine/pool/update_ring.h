#pragma once
// The last updates, ready to be sent, for nodes that were away for a few steps. Bounded in bytes;
// a node that lags further behind gets a snapshot.

#include <cstdint>
#include <deque>

#include "wide/base/ids.h"
#include "wide/wire/frame_writer.h"

namespace wide::engine {

class UpdateRing final {
 public:
  // The last `count_least` stay, whatever their size.
  UpdateRing(std::size_t bytes_max, std::size_t count_least)
      : bytes_max_(bytes_max), count_least_(count_least) {}

  // The update that takes a replica from `step` to step + 1; `chain` names the replica before it.
  void push(Step step, std::uint64_t chain, wire::SharedPacket packet);

  // Are all updates from `step` to the present still here?
  bool covers(Step step) const;
  // The same, and is a replica at (step, chain) the one that they start from?
  bool reaches(Step step, std::uint64_t chain) const;
  const wire::SharedPacket& packet(Step step) const;  // covers(step) must hold
  std::uint64_t chain(Step step) const;               // likewise: of the replica before it

 private:
  struct Entry {
    std::uint64_t chain;
    wire::SharedPacket packet;
    std::size_t bytes;
  };

  std::size_t bytes_max_;
  std::size_t count_least_;
  std::size_t bytes_ = 0;
  Step first_ = 0;
  std::deque<Entry> entries_;
};

}  // namespace wide::engine
