#include "wide/engine/pool/board.h"

#include <gtest/gtest.h>

namespace wide::engine {
namespace {

TEST(Board, GivesTheLeftmostFreePieceFirst) {
  Board board(8);
  board.take({0, 2});

  EXPECT_EQ(board.first_free_for({1}, {}, 8), 2u);
  EXPECT_EQ(board.free_count(), 6u);
}

TEST(Board, FreesAPieceOnlyWhenItsLastHolderIsGone) {
  Board board(4);
  board.take({0, 2});
  board.take({0, 2});
  EXPECT_TRUE(board.shared({0, 2}));

  board.release({0, 2});
  EXPECT_EQ(board.free_count(), 2u);
  board.release({0, 2});

  EXPECT_EQ(board.free_count(), 4u);
  EXPECT_EQ(board.first_free_for({1}, {}, 4), 0u);
}

TEST(Board, KeepsDonePiecesDoneWhenAHolderIsReleased) {
  Board board(4);
  board.take({0, 2});
  board.take({0, 2});
  board.finish({0, 2});

  board.release({0, 2});

  EXPECT_EQ(board.done_count(), 2u);
  EXPECT_EQ(board.free_count(), 2u);
  EXPECT_EQ(board.first_undone(), 2u);
}

TEST(Board, LeavesADoubtedPieceToOthersWhileTheyAreThere) {
  Board board(2);
  board.doubt(0, {7});
  const std::vector<NodeId> both = {{7}, {8}};
  const std::vector<NodeId> alone = {{7}};

  EXPECT_EQ(board.first_free_for({7}, both, 2), 1u);
  EXPECT_EQ(board.first_free_for({8}, both, 2), 0u);
  EXPECT_EQ(board.first_free_for({7}, alone, 2), 0u);
}

TEST(Board, GivesAPieceThatEveryoneDoubtsToAnyone) {
  Board board(1);
  board.doubt(0, {7});
  board.doubt(0, {8});
  const std::vector<NodeId> both = {{7}, {8}};

  EXPECT_EQ(board.first_free_for({7}, both, 1), 0u);
}

TEST(Board, SendsADoubtedPieceOutAlone) {
  Board board(4);
  board.doubt(2, {7});

  EXPECT_EQ(board.free_run(0, 4), 2u);
  EXPECT_EQ(board.free_run(2, 4), 1u);
}

TEST(BoardDeathTest, AbortsWhenAPieceWouldCountTwice) {
  Board board(2);
  board.finish({0, 1});

  EXPECT_DEATH(board.finish({0, 1}), "counts once");
}

}  // namespace
}  // namespace wide::engine
