#pragma once
// What everybody in a simulation shares: time, luck, and the record of what happened.

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "wide/base/buffer.h"
#include "wide/base/digest.h"
#include "wide/sim/dice.h"
#include "wide/sim/event_queue.h"
#include "wide/sim/fault.h"

namespace wide::sim {

struct Stage {
  explicit Stage(std::uint64_t seed) : dice(seed), queue(dice.word()) {}

  Dice dice;
  EventQueue queue;
  FaultCounts faults;
  BufferPool buffers;
  std::uint64_t trace_hash = 0;                    // of everything that was traced
  std::vector<std::string> violations;             // broken promises, in words
  std::function<void(const std::string&)> teller;  // wants the story, line by line

  Time now() const { return queue.now(); }

  void trace(std::uint64_t what, std::uint64_t which) {
    const std::uint64_t words[] = {what, which, static_cast<std::uint64_t>(now().count())};
    trace_hash = xxh3(std::as_bytes(std::span(words)), trace_hash);
  }
  template <class... Facts>
  void tell(fmt::format_string<Facts...> line, Facts&&... facts) {
    if (!teller) return;
    teller(fmt::format("{:10.6f}  ", seconds(now())) +
           fmt::format(line, std::forward<Facts>(facts)...));
  }
  void happened(Fault fault) {
    tell("{}", fault_name(fault));
    faults.add(fault);
    trace(0xfa17, static_cast<std::uint64_t>(fault));
  }
  void broke(std::string promise) {
    constexpr std::size_t kEnough = 16;
    tell("BROKEN {}", promise);
    if (violations.size() < kEnough) violations.push_back(std::move(promise));
  }
};

}  // namespace wide::sim
