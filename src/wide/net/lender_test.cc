#include "wide/net/lender.h"

#include <gtest/gtest.h>

#include <fstream>

#include "wide/data/recipe.h"
#include "wide/net/open_samples.h"
#include "wide/net/sample_plan.h"
#include "wide/net/text_samples.h"

namespace wide::net {
namespace {

using namespace std::chrono_literals;

class LenderTest : public testing::Test {
 protected:
  LinkId link(std::uint64_t number) { return LinkId{number}; }

  TextSamples text_{5 << 20};
  Lender lender_{text_.open(), text_.job()};
};

TEST_F(LenderTest, GivesEachLinkOneChunkInTurn) {
  for (const std::uint64_t chunk : {0, 1, 2}) lender_.ask(link(1), chunk);
  lender_.ask(link(2), 3);

  std::vector<std::uint64_t> chunks;
  while (const auto turn = lender_.next(1s, false)) {
    chunks.push_back(turn->chunk);
    lender_.sent(turn->link, 1ms, 1s, false);
  }

  EXPECT_EQ(chunks, (std::vector<std::uint64_t>{0, 3, 1, 2}));
}

TEST_F(LenderTest, ALinkThatHasNotTakenItsChunkGetsNoOther) {
  lender_.ask(link(1), 0);
  lender_.ask(link(1), 1);
  ASSERT_TRUE(lender_.next(1s, false));

  EXPECT_FALSE(lender_.next(1s, false));
  lender_.sent(link(1), 1ms, 1s, false);

  EXPECT_TRUE(lender_.next(1s, false));
}

TEST_F(LenderTest, ServesFewLinksAtATimeButASlowOneKeepsNobodyWaiting) {
  for (std::uint64_t i = 1; i <= 6; ++i) lender_.ask(link(i), 0);

  int served = 0;
  while (lender_.next(1s, false)) ++served;

  EXPECT_EQ(served, 4);
  EXPECT_EQ(lender_.due(1s), Time(2s));
  EXPECT_TRUE(lender_.next(2s, false));
}

TEST_F(LenderTest, RestsWhileOthersTrain) {
  lender_.ask(link(1), 0);
  lender_.ask(link(1), 1);
  ASSERT_TRUE(lender_.next(1s, true));
  lender_.sent(link(1), 2ms, 1s, true);

  EXPECT_FALSE(lender_.next(1s + 21ms, true));
  EXPECT_EQ(lender_.due(1s), Time(1s + 22ms));
  EXPECT_TRUE(lender_.next(1s + 22ms, true));
}

TEST_F(LenderTest, DoesNotRestWhereNobodyTrains) {
  lender_.ask(link(1), 0);
  lender_.ask(link(1), 1);
  ASSERT_TRUE(lender_.next(1s, false));
  lender_.sent(link(1), 2ms, 1s, false);

  EXPECT_TRUE(lender_.next(1s, false));
}

TEST_F(LenderTest, ForgetsALinkThatIsGone) {
  lender_.ask(link(1), 0);
  lender_.ask(link(2), 1);
  lender_.forget(link(1));

  const auto turn = lender_.next(1s, false);

  ASSERT_TRUE(turn);
  EXPECT_EQ(turn->link, link(2));
  lender_.sent(link(1), 1ms, 1s, false);  // too late, and harmless
  EXPECT_FALSE(lender_.next(1s, false));
}

TEST_F(LenderTest, SendsChunksFromTheMap) {
  const auto samples = text_.open();
  const auto& library = *samples->library();
  const auto packet = lender_.chunk(1);

  ASSERT_EQ(packet->bulk.runs.size(), 1u);
  EXPECT_EQ(sha256(packet->bulk.runs[0]), library.manifest().chunks[1]);
}

TEST_F(LenderTest, CarriesTheRecordsThatTheSequenceNames) {
  const auto samples = text_.open();
  const SamplePlan plan(text_.job(),
                        std::make_shared<const data::Manifest>(samples->library()->manifest()));
  const auto packet = lender_.samples({link(1), false, 70, 3});

  std::vector<std::span<const std::byte>> expected;
  for (const auto index : plan.indices_of({false, 70, 3})) {
    samples->library()->add_train_record(index, expected);
  }

  ASSERT_EQ(packet->bulk.runs.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(std::ranges::equal(packet->bulk.runs[i], expected[i]));
  }
}

}  // namespace
}  // namespace wide::net
