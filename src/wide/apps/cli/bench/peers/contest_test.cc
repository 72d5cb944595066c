#include "wide/apps/cli/bench/peers/contest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wide/base/error.h"

namespace wide::apps::bench {

namespace {
Contest::Work works_at(double steps_per_second) {
  return [steps_per_second] {
    Outcome outcome;
    outcome.steps = 2;
    outcome.steps_per_second = steps_per_second;
    outcome.curve = {{1, 2.0}, {2, 1.0}};
    return outcome;
  };
}
}  // namespace

TEST(Contest, PutsOursBesideEachOfTheirs) {
  std::vector<std::string> notes;
  Contest contest("loopback", 10, 32);
  contest.add(Contest::Side::kOurs, "", works_at(60));
  contest.add(Contest::Side::kTheirs, "plain", works_at(2));
  contest.add(Contest::Side::kTheirs, "fp16", works_at(3));

  contest.round(notes);
  const auto rows = contest.rows();

  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].name, "loopback, 10 ranks: batches/s");
  EXPECT_EQ(rows[0].measured, 600);
  EXPECT_EQ(rows[0].against, "plain");
  EXPECT_EQ(rows[0].ratio, 30);
  EXPECT_EQ(rows[1].ratio, 20);
  EXPECT_EQ(rows[1].more.at("theirs").at("samples_per_second"), 960);
  EXPECT_TRUE(notes.empty());
}

TEST(Contest, GoesOnWithoutThoseWhoFail) {
  std::vector<std::string> notes;
  int calls = 0;
  Contest contest("loopback", 2, 32);
  contest.add(Contest::Side::kOurs, "", works_at(5));
  contest.add(Contest::Side::kTheirs, "plain", [&calls]() -> Outcome {
    ++calls;
    throw Failure(Errc::kMachine, "no luck");
  });

  contest.round(notes);
  contest.round(notes);

  EXPECT_EQ(calls, 1);
  EXPECT_THAT(notes, testing::ElementsAre(testing::HasSubstr("no luck")));
  ASSERT_EQ(contest.rows().size(), 1u);
  EXPECT_EQ(contest.rows()[0].measured, 10);
  EXPECT_FALSE(contest.rows()[0].ratio.has_value());
}

}  // namespace wide::apps::bench
