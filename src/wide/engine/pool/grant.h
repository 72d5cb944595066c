#pragma once
// Who gets which piece of work next. Pure: tests age nodes by passing other numbers.
//
// Work goes out from left to right, within a window, so that pending sums stay few. A lease is as
// wide as the node's fair part of what is left (by measured speed), so a fast node adds up more
// blocks before it sends anything, and the tail of a step is dealt in small pieces.

#include <optional>
#include <span>
#include <string>

#include "wide/base/clock.h"
#include "wide/engine/pool/board.h"

namespace wide::engine {

// What the decision needs to know of a node that is ready.
struct Candidate {
  NodeId node;
  std::uint32_t credits = 0;     // leases it asked for and has not got
  std::uint32_t leases_out = 0;  // leases it works on
  std::uint32_t slots = 1;
  double piece_seconds = 0;  // compute time of a piece on one slot; 0: not known yet
  double lag_seconds = 0;    // what a lease costs beside computing: wire, wake-ups
  Time granted_at{};         // its last lease; the longest-waiting goes first
};

struct GrantRules {
  Block forced_count = 0;  // every lease this wide, where the tree allows; 0: by speed
  Block floor_count = 1;   // no narrower than this, where the tree allows
};

struct Grant {
  std::size_t candidate = 0;  // index
  Subtree run;
};

std::optional<Grant> next_grant(const Board& board, std::span<const Candidate> candidates,
                                const GrantRules& rules);

}  // namespace wide::engine
