#pragma once
// Who gets which piece of work next. Pure: tests age nodes by passing other numbers.
//
// Work goes out from left to right, within a window, so that pending sums stay few. A lease is as
// wide as the node's fair part of what is left (by measured speed), so a fast node adds up more
// blocks before it sends anything, and the tail of a step is dealt in small pieces.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "wide/base/clock.h"
#include "wide/engine/pool/board.h"

namespace wide::engine {

// What the decision needs to know of a node that is ready.
struct Candidate {
  NodeId node;
  std::uint32_t credits = 0;     // leases it asked for and has not got
  std::uint32_t leases_out = 0;  // leases it works on
  Block pieces_out = 0;          // in those of this board; with a delay not counted
  Block pieces_ahead = 0;        // in all of them
  std::uint32_t slots = 1;
  double piece_seconds = 0;  // compute time of a piece on one slot; 0: not known yet
  double lag_seconds = 0;    // what a lease costs beside computing: wire, wake-ups
  Time granted_at{};         // its last lease; the longest-waiting goes first
};

struct GrantRules {
  Block forced_count = 0;  // every lease this wide, where the tree allows; 0: by speed
  std::uint32_t slots_most = UINT32_MAX;  // as if there were no more
  bool overlapping = false;               // other steps are open, each for its part of a crew
  std::uint32_t slots_coming = 0;         // of nodes that get ready: they are left a part
};

struct Grant {
  std::size_t candidate = 0;  // index
  Subtree run;
};

// All who are at work, as one.
struct Crowd {
  double unknown_speed = 1;  // what a newcomer is taken for
  double speed_sum = 0;      // over all slots
  double span = 0;           // in which they can do all that is left; 0: nobody asks
  std::uint32_t slots = 0;
  std::vector<NodeId> nodes;
};

// The reference: looks at everyone for each grant.
std::optional<Grant> next_grant(const Board& board, std::span<const Candidate> candidates,
                                const GrantRules& rules);

// The same grants, one after another, with the candidates kept in order: a grant among thousands
// costs little more than one among ten. For as long as nothing but its own grants changes the board
// and the candidates.
class Dealer final {
 public:
  Dealer(const Board& board, std::span<const Candidate> candidates, const GrantRules& rules);

  std::optional<Grant> next();
  void granted(std::size_t candidate);  // it has taken what next() said, and is told so

 private:
  bool goes_later(std::size_t a, std::size_t b) const;
  std::optional<Subtree> run_for(std::size_t candidate) const;
  void line_up(std::size_t candidate);

  const Board& board_;
  std::span<const Candidate> candidates_;
  GrantRules rules_;
  Crowd crowd_;
  Block end_ = 0;                   // of the window
  std::vector<Block> widths_;       // that each may have
  std::vector<std::size_t> queue_;  // a heap of those who ask
  std::vector<std::size_t> aside_;  // looked at in vain, this time
};

}  // namespace wide::engine
