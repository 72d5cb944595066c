#include "wide/engine/pool/grant.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace wide::engine {

namespace {

// Pieces per second of one slot. A node that has shown nothing yet counts like the average.
double slot_speed(const Candidate& candidate, double unknown) {
  return candidate.piece_seconds > 0 ? 1.0 / candidate.piece_seconds : unknown;
}

struct Crowd {
  double unknown_speed = 1;  // what a newcomer is taken for
  double speed_sum = 0;      // over all slots
  std::uint32_t slots = 0;
  std::vector<NodeId> nodes;
};

Crowd measure(std::span<const Candidate> candidates) {
  Crowd crowd;
  double known = 0;
  std::uint32_t known_slots = 0;
  for (const auto& candidate : candidates) {
    crowd.slots += candidate.slots;
    crowd.nodes.push_back(candidate.node);
    if (candidate.piece_seconds <= 0) continue;
    known += candidate.slots / candidate.piece_seconds;
    known_slots += candidate.slots;
  }
  if (known_slots > 0) crowd.unknown_speed = known / known_slots;
  for (const auto& candidate : candidates) {
    crowd.speed_sum += candidate.slots * slot_speed(candidate, crowd.unknown_speed);
  }
  return crowd;
}

// A slot's fair part of all that is not done yet; half of it while that is much, so that the end of
// a long step is dealt to whoever is free. Rounded to a width that the tree has: three quarters of
// it are enough to round up, or two nodes of nearly one speed would halve their leases whenever
// one is a little slower.
Block width(const Board& board, const Candidate& candidate, const Crowd& crowd,
            const GrantRules& rules) {
  if (rules.forced_count > 0) return rules.forced_count;
  constexpr double kMuch = 8;
  const double part = slot_speed(candidate, crowd.unknown_speed) / crowd.speed_sum;
  const double fair = (board.count() - board.done_count()) * part;
  const auto rounded = std::bit_floor(static_cast<Block>((fair > kMuch ? fair / 2 : fair) * 4 / 3));
  return std::max({rounded, rules.floor_count, Block{1}});
}

// A lease ahead of a free slot hides the wire's delay, but it is dealt before anyone knows who
// will be done first. Worth it only where the delay shows beside the computing.
bool may_queue(const Candidate& candidate, Block count) {
  if (candidate.leases_out < candidate.slots) return true;
  return candidate.lag_seconds > 0.05 * candidate.piece_seconds * count;
}

// The least loaded goes first; among those the ones with the widest part, while wide nodes of the
// tree are left; then the longest-waiting.
bool goes_before(const Candidate& a, Block width_a, const Candidate& b, Block width_b) {
  const auto load_a = std::uint64_t{a.leases_out} * b.slots;
  const auto load_b = std::uint64_t{b.leases_out} * a.slots;
  if (load_a != load_b) return load_a < load_b;
  if (std::bit_width(width_a) != std::bit_width(width_b)) return width_a > width_b;
  return a.granted_at < b.granted_at;
}

}  // namespace

std::optional<Grant> next_grant(const Board& board, std::span<const Candidate> candidates,
                                const GrantRules& rules) {
  if (board.free_count() == 0) return std::nullopt;
  const Crowd crowd = measure(candidates);
  const Block widest = std::max(rules.forced_count, rules.floor_count);
  const std::uint64_t fair_span = board.count() / std::max(1u, crowd.slots) + 1;
  const std::uint64_t window =
      std::max({std::uint64_t{16}, 4 * fair_span, std::uint64_t{4} * crowd.slots * widest});
  const auto end =
      static_cast<Block>(std::min<std::uint64_t>(board.count(), board.first_undone() + window));

  std::optional<Grant> best;
  Block best_width = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& candidate = candidates[i];
    if (candidate.credits == 0) continue;
    const Block wanted = width(board, candidate, crowd, rules);
    if (best && !goes_before(candidate, wanted, candidates[best->candidate], best_width)) continue;
    const auto first = board.first_free_for(candidate.node, crowd.nodes, end);
    if (!first) continue;
    const Block run = board.free_run(*first, wanted);
    if (!may_queue(candidate, run)) continue;
    best = Grant{i, widest_subtree(*first, run, board.count())};
    best_width = wanted;
  }
  return best;
}

}  // namespace wide::engine
