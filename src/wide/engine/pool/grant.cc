#include "wide/engine/pool/grant.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

namespace wide::engine {

namespace {

constexpr double kHair = 1e-6;  // of a piece: sums of fractions are not exact

// Pieces per second of one slot. A node that has shown nothing yet counts like the average.
double slot_speed(const Candidate& candidate, double unknown) {
  return candidate.piece_seconds > 0 ? 1.0 / candidate.piece_seconds : unknown;
}

// What counts of a crowd where only so many slots of it are to be used.
double part_used(const Crowd& crowd, const GrantRules& rules) {
  return std::min(1.0, double(rules.slots_most) / crowd.slots);
}

// How many whole pieces all slots together have computed after `span`.
double pieces_within(double span, std::span<const Candidate> candidates, const Crowd& crowd,
                     const GrantRules& rules) {
  double pieces =
      std::floor(span * crowd.unknown_speed + kHair) * std::min(rules.slots_coming, crowd.slots);
  for (const auto& candidate : candidates) {
    pieces +=
        candidate.slots * std::floor(span * slot_speed(candidate, crowd.unknown_speed) + kHair);
  }
  return pieces;
}

// When a step can be over at the earliest, given that pieces cannot be cut: the shortest span in
// which enough of them are computed. Beyond a few slots the end is dealt to whoever is free, and
// nobody asks.
double shortest_span(const Board& board, std::span<const Candidate> candidates, const Crowd& crowd,
                     const GrantRules& rules) {
  constexpr std::uint32_t kFew = 64;
  if (crowd.slots > kFew || rules.overlapping || rules.forced_count > 0) return 0;
  const double wanted = (board.count() - board.done_count()) / part_used(crowd, rules);
  double too_short = 0;
  double enough = (wanted + 2 * crowd.slots) / crowd.speed_sum;
  for (int halvings = 0; halvings < 30; ++halvings) {
    const double span = (too_short + enough) / 2;
    (pieces_within(span, candidates, crowd, rules) < wanted ? too_short : enough) = span;
  }
  return enough;
}

Crowd measure(const Board& board, std::span<const Candidate> candidates, const GrantRules& rules) {
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
  // At most as many as are here: a crowd that comes halves what is dealt, no more.
  crowd.speed_sum += std::min(rules.slots_coming, crowd.slots) * crowd.unknown_speed;
  crowd.span = shortest_span(board, candidates, crowd, rules);
  return crowd;
}

// How many pieces a slot should have of all that are not done yet.
struct FairPart {
  double by_speed = 0;
  double whole = 0;  // so that the step is over soonest; 0: nobody asked
};

FairPart fair_part(const Board& board, const Candidate& candidate, const Crowd& crowd,
                   const GrantRules& rules) {
  const double speed = slot_speed(candidate, crowd.unknown_speed);
  const double part = speed / (crowd.speed_sum * part_used(crowd, rules));
  return {(board.count() - board.done_count()) * part, std::floor(crowd.span * speed + kHair)};
}

// A slot's fair part less what the node has of it, as a width that the tree has, or 0.
//
// Much of it is halved, so that the end of a long step is dealt to whoever is free (where steps
// overlap nobody waits for it), and rounded up from three quarters. Little is dealt in whole pieces
// as the step is over soonest: 7 and 3 of ten to two nodes of which one is twice as fast, in leases
// of 4, 2 and 1, and of 2 and 1.
Block width(const Board& board, const Candidate& candidate, const Crowd& crowd,
            const GrantRules& rules) {
  if (rules.forced_count > 0) return rules.forced_count;
  constexpr double kMuch = 8;
  const double has = double(candidate.pieces_out) / candidate.slots;
  const FairPart part = fair_part(board, candidate, crowd, rules);
  const double fair = std::max(0.0, part.by_speed - has);
  const bool much = fair > kMuch && !rules.overlapping;
  const double generous = candidate.pieces_out == 0 ? 4.0 / 3 : 1.0;
  const double wanted = !much && part.whole > 0 ? std::max(0.0, part.whole - has)
                                                : (much ? fair / 2 : fair) * generous;
  const auto rounded = static_cast<Block>(wanted);
  // A step for one slot goes out whole even to who is slower, by less than three times: it is
  // passed then (Pool::Run::let_pass). Not where somebody waits at the end: who gets nothing is
  // never seen to have become faster.
  const double enough = rules.slots_most == 1 ? 0.5 * board.count() : 0.75 * board.count();
  if (rules.overlapping && fair >= enough) return board.count();
  return std::bit_floor(rounded);
}

// Who has had its part may take what nobody else does.
Block width_given(Block width) { return std::max(width, Block{1}); }

// A lease ahead of a free slot hides the wire's delay, but it is dealt before anyone knows who
// will be done first. Worth it only where the delay shows beside the computing.
bool may_queue(const Candidate& candidate, Block count) {
  if (candidate.leases_out < candidate.slots) return true;
  return candidate.lag_seconds > 0.05 * candidate.piece_seconds * count;
}

// The least loaded goes first; among those the ones with the widest part, while wide nodes of the
// tree are left; then the longest-waiting.
bool goes_before(const Candidate& a, Block width_a, const Candidate& b, Block width_b,
                 bool by_pieces) {
  const auto load_a = std::uint64_t{by_pieces ? a.pieces_ahead : a.leases_out} * b.slots;
  const auto load_b = std::uint64_t{by_pieces ? b.pieces_ahead : b.leases_out} * a.slots;
  if (load_a != load_b) return load_a < load_b;
  if (std::bit_width(width_a) != std::bit_width(width_b)) return width_a > width_b;
  return a.granted_at < b.granted_at;
}

// Work goes out no further than this, so that pending sums stay few.
Block window_end(const Board& board, const Crowd& crowd, const GrantRules& rules) {
  const Block widest = std::max(rules.forced_count, Block{1});
  const std::uint64_t fair_span = board.count() / std::max(1u, crowd.slots) + 1;
  const std::uint64_t window =
      std::max({std::uint64_t{16}, 4 * fair_span, std::uint64_t{4} * crowd.slots * widest});
  return static_cast<Block>(std::min<std::uint64_t>(board.count(), board.first_undone() + window));
}

}  // namespace

std::optional<Grant> next_grant(const Board& board, std::span<const Candidate> candidates,
                                const GrantRules& rules) {
  if (board.free_count() == 0) return std::nullopt;
  const Crowd crowd = measure(board, candidates, rules);
  const Block end = window_end(board, crowd, rules);

  std::optional<Grant> best;
  Block best_width = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& candidate = candidates[i];
    if (candidate.credits == 0) continue;
    const Block wanted = width(board, candidate, crowd, rules);
    if (best && !goes_before(candidate, wanted, candidates[best->candidate], best_width,
                             rules.overlapping)) {
      continue;
    }
    const auto first = board.first_free_for(candidate.node, crowd.nodes, end);
    if (!first) continue;
    const Block run = board.free_run(*first, width_given(wanted));
    if (!may_queue(candidate, run)) continue;
    best = Grant{i, widest_subtree(*first, run, board.count())};
    best_width = wanted;
  }
  return best;
}

Dealer::Dealer(const Board& board, std::span<const Candidate> candidates, const GrantRules& rules)
    : board_(board),
      candidates_(candidates),
      rules_(rules),
      crowd_(measure(board, candidates, rules)),
      end_(window_end(board, crowd_, rules)),
      widths_(candidates.size()) {
  for (std::size_t i = 0; i < candidates.size(); ++i) granted(i);
}

// Whoever has an equal claim stands where it stood.
bool Dealer::goes_later(std::size_t a, std::size_t b) const {
  const auto before = [this](std::size_t one, std::size_t other) {
    return goes_before(candidates_[one], widths_[one], candidates_[other], widths_[other],
                       rules_.overlapping);
  };
  if (before(b, a)) return true;
  if (before(a, b)) return false;
  return a > b;
}

void Dealer::line_up(std::size_t candidate) {
  queue_.push_back(candidate);
  std::ranges::push_heap(queue_, std::bind_front(&Dealer::goes_later, this));
}

// What it may have now, if anything.
std::optional<Subtree> Dealer::run_for(std::size_t candidate) const {
  const auto first = board_.first_free_for(candidates_[candidate].node, crowd_.nodes, end_);
  if (!first) return std::nullopt;
  const Block run = board_.free_run(*first, width_given(widths_[candidate]));
  if (!may_queue(candidates_[candidate], run)) return std::nullopt;
  return widest_subtree(*first, run, board_.count());
}

std::optional<Grant> Dealer::next() {
  // Without doubts, what is free is free for everyone: nobody need be asked where nothing is.
  if (!board_.has_doubts() && !board_.first_free_for({}, {}, end_)) return std::nullopt;
  std::optional<Grant> grant;
  while (!grant && !queue_.empty() && board_.free_count() > 0) {
    std::ranges::pop_heap(queue_, std::bind_front(&Dealer::goes_later, this));
    const std::size_t candidate = queue_.back();
    queue_.pop_back();
    if (const auto run = run_for(candidate)) {
      grant = Grant{candidate, *run};
    } else {
      aside_.push_back(candidate);
    }
  }
  // What goes to another may leave a run that is short enough for them.
  for (const auto candidate : aside_) line_up(candidate);
  aside_.clear();
  return grant;
}

void Dealer::granted(std::size_t candidate) {
  // Who may not wait for a single piece may wait for none.
  if (candidates_[candidate].credits == 0 || !may_queue(candidates_[candidate], 1)) return;
  widths_[candidate] = width(board_, candidates_[candidate], crowd_, rules_);
  line_up(candidate);
}

}  // namespace wide::engine
