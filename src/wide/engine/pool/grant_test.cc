#include "wide/engine/pool/grant.h"

#include <gtest/gtest.h>

#include "wide/base/philox.h"

namespace wide::engine {
namespace {

using namespace std::chrono_literals;

Candidate asking(std::uint32_t node, double piece_seconds = 0) {
  return {.node = {node}, .credits = 2, .slots = 1, .piece_seconds = piece_seconds};
}

TEST(NextGrant, GivesNothingToThoseWhoDoNotAsk) {
  Board board(8);
  std::vector<Candidate> candidates = {asking(1)};
  candidates[0].credits = 0;

  EXPECT_FALSE(next_grant(board, candidates, {}));
}

TEST(NextGrant, SplitsAStepEvenlyBetweenEqualNodes) {
  Board board(8);
  const std::vector<Candidate> candidates = {asking(1, 0.01), asking(2, 0.01)};

  const auto grant = next_grant(board, candidates, {});

  ASSERT_TRUE(grant);
  EXPECT_EQ(grant->run, (Subtree{0, 4}));
}

TEST(NextGrant, DoesNotHalveALeaseBecauseANodeIsALittleSlower) {
  Board board(8);
  const std::vector<Candidate> candidates = {asking(1, 0.011), asking(2, 0.010)};

  std::vector<Block> counts;
  for (auto left = candidates; const auto grant = next_grant(board, left, {});) {
    board.take(grant->run);
    counts.push_back(grant->run.count);
    left[grant->candidate].credits = 0;
  }

  EXPECT_EQ(counts, (std::vector<Block>{4, 4}));
}

TEST(NextGrant, GivesAFastNodeMoreAndFirst) {
  Board board(64);
  const std::vector<Candidate> candidates = {asking(1, 0.04), asking(2, 0.01)};

  const auto first = next_grant(board, candidates, {});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->candidate, 1u);
  EXPECT_EQ(first->run.count, 32u);
}

TEST(NextGrant, LeavesAPartToWhoIsAboutToBeReady) {
  const Board board(8);
  const std::vector<Candidate> candidates = {asking(1)};

  EXPECT_EQ(next_grant(board, candidates, {})->run.count, 8u);
  EXPECT_EQ(next_grant(board, candidates, {.slots_coming = 1})->run.count, 4u);
}

TEST(NextGrant, LetsACrowdThatIsNotReadyHalveALeaseAndNoMore) {
  const Board board(8);
  const std::vector<Candidate> candidates = {asking(1, 0.01)};

  EXPECT_EQ(next_grant(board, candidates, {.slots_coming = 1000})->run.count, 4u);
}

TEST(NextGrant, TakesTheLongestWaitingNodeFirst) {
  Board board(4);
  std::vector<Candidate> candidates = {asking(1), asking(2)};
  candidates[0].granted_at = 5s;
  candidates[1].granted_at = 3s;

  EXPECT_EQ(next_grant(board, candidates, {})->candidate, 1u);
}

TEST(NextGrant, DoesNotQueueWhereTheWireIsNothingBesideTheWork) {
  Board board(8);
  Candidate busy = asking(1, 0.1);
  busy.leases_out = 1;
  busy.lag_seconds = 0.0001;

  EXPECT_FALSE(next_grant(board, std::vector{busy}, {}));
}

TEST(NextGrant, QueuesWhereTheWireShows) {
  Board board(8);
  Candidate busy = asking(1, 0.0001);
  busy.leases_out = 1;
  busy.lag_seconds = 0.05;

  EXPECT_TRUE(next_grant(board, std::vector{busy}, {}));
}

TEST(NextGrant, ObeysAForcedSizeAsFarAsTheTreeAllows) {
  Board board(7);
  std::vector<Candidate> candidates = {asking(1)};
  candidates[0].credits = 10;
  candidates[0].slots = 10;

  std::vector<Block> sizes;
  while (const auto grant = next_grant(board, candidates, {.forced_count = 4})) {
    board.take(grant->run);
    sizes.push_back(grant->run.count);
  }

  EXPECT_EQ(sizes, (std::vector<Block>{4, 3}));
}

TEST(NextGrant, KeepsWithinAWindowBehindAStraggler) {
  Board board(10000);
  std::vector<Candidate> candidates(1000, asking(1, 0.01));
  board.take({0, 1});  // the straggler

  Block end = 0;
  while (const auto grant = next_grant(board, candidates, {.forced_count = 1})) {
    board.take(grant->run);
    board.finish(grant->run);
    end = grant->run.end();
  }

  EXPECT_LT(end, 10000u);
  EXPECT_GT(board.free_count(), 0u);
}

// A crowd of all sorts, half of it at work already, on a board with doubts.
struct Scene {
  Board board;
  std::vector<Candidate> candidates;
  GrantRules rules;

  Scene(Board empty, std::vector<Candidate> who, GrantRules how)
      : board(std::move(empty)), candidates(std::move(who)), rules(how) {}
  explicit Scene(std::uint64_t seed) : board(1 + RandomStream(seed, 1, 0).word(0) % 200) {
    const RandomStream dice(seed, 2, 0);
    std::uint64_t at = 0;
    const auto below = [&](std::uint32_t limit) { return dice.word(at++) % limit; };
    rules = {below(3) == 0 ? Block{1} : Block{0}, Block{1} << below(3), below(2) == 0};
    const std::uint32_t count = 1 + below(12);
    for (std::uint32_t i = 0; i < count; ++i) {
      candidates.push_back({.node = {i + 1},
                            .credits = below(4),
                            .leases_out = below(3),
                            .pieces_out = below(6),
                            .pieces_ahead = below(9),
                            .slots = 1 + below(3),
                            .piece_seconds = 0.001 * below(5),
                            .lag_seconds = 0.001 * below(3),
                            .granted_at = std::chrono::milliseconds(below(4))});
    }
    for (std::uint32_t i = below(4); i > 0; --i) {
      board.doubt(below(board.count()), {1 + below(count)});
    }
  }

  void give(const Grant& grant) {
    board.take(grant.run);
    Candidate& candidate = candidates[grant.candidate];
    --candidate.credits;
    ++candidate.leases_out;
    candidate.pieces_out += grant.run.count;
    candidate.pieces_ahead += grant.run.count;
    candidate.granted_at = 5ms;
  }
};

using Dealt = std::vector<std::pair<std::uint32_t, Subtree>>;

// Deals all of it, to nodes that take what they get and finish nothing meanwhile.
Dealt dealt(Board board, std::vector<Candidate> candidates, const GrantRules& rules) {
  Dealt grants;
  while (const auto grant = next_grant(board, candidates, rules)) {
    board.take(grant->run);
    Candidate& candidate = candidates[grant->candidate];
    --candidate.credits;
    ++candidate.leases_out;
    candidate.pieces_ahead += grant->run.count;
    grants.emplace_back(candidate.node.value, grant->run);
  }
  return grants;
}

Candidate brisk(std::uint32_t node, Block pieces_ahead = 0) {
  Candidate candidate = asking(node, 0.0001);
  candidate.lag_seconds = 0.0001;
  candidate.pieces_ahead = pieces_ahead;
  candidate.leases_out = pieces_ahead > 0 ? 1 : 0;
  return candidate;
}

// Who has a whole step can work ahead of our answer: see node.h.
TEST(NextGrant, GivesABoardForOneSlotToOneNodeWhole) {
  EXPECT_EQ(dealt(Board(10), {brisk(1), brisk(2)}, {.slots_most = 1, .overlapping = true}),
            (Dealt{{1, {0, 10}}}));
}

TEST(NextGrant, LeavesTheSlowNodeItsPartWhereSomebodyWaitsForTheStep) {
  Candidate slow = brisk(2);
  slow.piece_seconds = 1;
  EXPECT_EQ(dealt(Board(10), {brisk(1), slow}, {.slots_most = 1}),
            (Dealt{{1, {0, 8}}, {2, {8, 1}}, {1, {9, 1}}}));
}

// Pieces cannot be cut: the step is over soonest where both are done at about the same time.
TEST(NextGrant, DealsAFewPiecesSoThatTheStepIsOverSoonest) {
  const auto parts = [](double first, double second) {
    std::vector<Candidate> two = {brisk(1), brisk(2)};
    two[0].piece_seconds = first;
    two[1].piece_seconds = second;
    two[0].credits = two[1].credits = 4;
    Scene scene(Board(10), two, {});
    std::vector<Block> counts(2);
    while (const auto grant = next_grant(scene.board, scene.candidates, scene.rules)) {
      counts[grant->candidate] += grant->run.count;
      scene.give(*grant);
    }
    return counts;
  };
  EXPECT_EQ(parts(0.0001, 0.0001), (std::vector<Block>{5, 5}));
  EXPECT_EQ(parts(0.0001, 0.00011), (std::vector<Block>{5, 5}));
  EXPECT_EQ(parts(0.0001, 0.00016), (std::vector<Block>{6, 4}));
  EXPECT_EQ(parts(0.0001, 0.00024), (std::vector<Block>{7, 3}));
  EXPECT_EQ(parts(0.00024, 0.0001), (std::vector<Block>{3, 7}));
  EXPECT_EQ(parts(0.0001, 0.0004), (std::vector<Block>{8, 2}));
}

TEST(NextGrant, DoesNotCutLeasesWhereSomebodyMustHaveFourAnyway) {
  std::vector<Candidate> three = {brisk(1), brisk(2), brisk(3)};
  EXPECT_EQ(dealt(Board(10), three, {}), (Dealt{{1, {0, 4}}, {2, {4, 4}}, {3, {8, 2}}}));
}

TEST(NextGrant, GivesAWholeBoardToANodeThatIsSlowerByLessThanThreeTimes) {
  const auto first = [](double slower_by) {
    std::vector<Candidate> two = {brisk(1, 10), brisk(2)};
    two[1].piece_seconds = slower_by * two[0].piece_seconds;
    return dealt(Board(10), two, {.slots_most = 1, .overlapping = true}).at(0);
  };
  EXPECT_EQ(first(2.9), (std::pair{2u, Subtree{0, 10}}));
  EXPECT_LT(first(3.1).second.count, 10u);
}

TEST(NextGrant, CountsWhatIsAheadByPiecesWhereStepsOverlap) {
  EXPECT_EQ(dealt(Board(10), {brisk(1, 8), brisk(2, 2)}, {.slots_most = 1, .overlapping = true}),
            (Dealt{{2, {0, 10}}}));
}

TEST(NextGrant, GivesABoardForTwoSlotsToTheTwoWhoHaveLeastAhead) {
  EXPECT_EQ(dealt(Board(8), {brisk(1, 4), brisk(2), brisk(3, 4), brisk(4, 1)},
                  {.slots_most = 2, .overlapping = true}),
            (Dealt{{2, {0, 4}}, {4, {4, 4}}}));
}

TEST(Dealer, GrantsWhatTheReferenceGrants) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Scene scene(seed);
    Scene same(seed);
    Dealer dealer(same.board, same.candidates, same.rules);

    for (int turn = 0; turn < 100; ++turn) {
      const auto wanted = next_grant(scene.board, scene.candidates, scene.rules);
      const auto got = dealer.next();

      ASSERT_EQ(got.has_value(), wanted.has_value()) << "seed " << seed << ", turn " << turn;
      if (!wanted) break;
      ASSERT_EQ(got->candidate, wanted->candidate) << "seed " << seed << ", turn " << turn;
      ASSERT_EQ(got->run, wanted->run) << "seed " << seed << ", turn " << turn;
      scene.give(*wanted);
      same.give(*got);
      dealer.granted(got->candidate);
    }
  }
}

}  // namespace
}  // namespace wide::engine
