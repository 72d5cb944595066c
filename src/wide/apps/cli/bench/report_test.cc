#include "wide/apps/cli/bench/report.h"

#include <gtest/gtest.h>

#include "wide/apps/cli/bench/turns.h"

namespace wide::apps::bench {
namespace {

Row row_with(std::optional<double> ratio, Goal goal) {
  Row row;
  row.name = "some";
  row.ratio = ratio;
  row.goal = goal;
  return row;
}

TEST(Row, MeetsAGoalFromTheRightSide) {
  EXPECT_EQ(row_with(0.5, {.target = 0.5}).met(), true);
  EXPECT_EQ(row_with(0.49, {.target = 0.5}).met(), false);
  EXPECT_EQ(row_with(1.03, {.target = 1.03, .wanted = Wanted::kAtMost}).met(), true);
  EXPECT_EQ(row_with(1.04, {.target = 1.03, .wanted = Wanted::kAtMost}).met(), false);
}

TEST(Row, SaysNothingWithoutAGoalOrARatio) {
  EXPECT_EQ(row_with(std::nullopt, {.target = 1}).met(), std::nullopt);
  EXPECT_EQ(Row().met(), std::nullopt);
}

TEST(Row, NoticesWhatIsTooGoodToBeTrue) {
  EXPECT_FALSE(row_with(0.6, {.target = 0.5, .limit = 0.62}).is_beyond_limit());
  EXPECT_TRUE(row_with(0.7, {.target = 0.5, .limit = 0.62}).is_beyond_limit());
  EXPECT_FALSE(row_with(9.0, {.target = 0.5}).is_beyond_limit());
  EXPECT_TRUE(row_with(0.9, {1.03, 1.0, Wanted::kAtMost}).is_beyond_limit());
}

TEST(ReportJson, HasEveryFieldOfTheContractInEveryRow) {
  Report report;
  report.rows = {Row(), row_with(0.6, {.target = 0.5, .limit = 0.62})};
  report.rows.front().more["codec"] = "int8";

  const auto json = report_json(report, "a machine");

  ASSERT_EQ(json["rows"].size(), 2u);
  for (const auto& row : json["rows"]) {
    for (const auto* key :
         {"name", "measured", "unit", "against", "ratio", "target", "limit", "met"}) {
      EXPECT_TRUE(row.contains(key)) << key;
    }
  }
  EXPECT_EQ(json["rows"][0]["codec"], "int8");
  EXPECT_TRUE(json["rows"][0]["met"].is_null());
  EXPECT_EQ(json["rows"][1]["met"], true);
  EXPECT_EQ(json["machine"], "a machine");
}

TEST(ReportText, NamesEveryGoalAndWhetherItIsMet) {
  Report report;
  report.rows = {row_with(0.4, {.target = 0.5})};
  report.notes = {"a note"};

  const std::string text = report_text(report, "a machine");

  for (const auto* word : {"a machine", "some", "0.400", "NO", "a note"}) {
    EXPECT_NE(text.find(word), std::string::npos) << word << " in " << text;
  }
}

TEST(Turns, GivesEveryoneTheSameNumberOfTurns) {
  int first = 0, second = 0;
  Turns turns;
  turns.add("first", [&] { ++first; });
  turns.add("second", [&] { second = first; });

  turns.run({.rounds_least = 5});

  EXPECT_EQ(first, 6);  // one of them unmeasured
  EXPECT_EQ(second, 6);
  EXPECT_GE(turns.median_seconds("first"), 0.0);
}

TEST(Median, IsTheMiddleOneOrBetweenTheTwo) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median({}), 0);
}

}  // namespace
}  // namespace wide::apps::bench
