// `wide bench`: what scripts rely on. The figures themselves are for people to judge.

#include "jobs.h"
#include "runs.h"

namespace wide::tests {
namespace {

TEST(BenchList, NamesWhatCanBeMeasured) {
  const Json list = run_to_end({"wide", "bench", "--list", "--json"});

  ASSERT_FALSE(list["benches"].empty());
  EXPECT_EQ(list["benches"][0]["name"], "codec");
}

TEST(BenchTypo, SuggestsTheNearestName) {
  Process process({"wide", "bench", "codecs"});

  EXPECT_EQ(process.wait(Seconds(20)), 2);
  EXPECT_NE(process.err().find("did you mean 'codec'?"), std::string::npos) << process.err();
}

TEST(BenchNothing, SaysWhatThereIs) {
  Process process({"wide", "bench", "nothing"});

  EXPECT_EQ(process.wait(Seconds(20)), 2);
  EXPECT_NE(process.err().find("codec"), std::string::npos) << process.err();
}

// A second is too little to train anything: the floats are made up, and that is said.
TEST(BenchCodec, GivesRowsOfOneShapeAndEveryGoal) {
  const Json report = run_to_end({"wide", "bench", "codec", "--seconds", "1", "--json"});

  EXPECT_EQ(report["bench"], "codec");
  EXPECT_NE(report["notes"].dump().find("Made-up"), std::string::npos);
  int goals = 0;
  for (const auto& row : report["rows"]) {
    for (const auto* key :
         {"name", "measured", "unit", "against", "ratio", "target", "limit", "met"}) {
      ASSERT_TRUE(row.contains(key)) << key << " in " << row;
    }
    EXPECT_TRUE(row["measured"].is_number()) << row;
    goals += row["met"].is_boolean() ? 1 : 0;
  }
  EXPECT_EQ(goals, 7);
  EXPECT_GT(report["rows"].size(), 80u);
}

TEST(BenchLimit, MeasuresTheMachineAndTheSlotsAlone) {
  const Json report = run_to_end({"wide", "bench", "limit", "--seconds", "4", "--json"});

  EXPECT_EQ(report["bench"], "limit");
#ifdef WIDE_SANITIZED  // there is no libtorch in such a build, and that is said
  EXPECT_EQ(report["notes"].size(), 3u) << report["notes"];
#else
  EXPECT_TRUE(report["notes"].empty()) << report["notes"];
#endif
  EXPECT_EQ(report["rows"].size() + report["notes"].size(), 7u);
  for (const auto& row : report["rows"]) EXPECT_GT(row["measured"].get<double>(), 0) << row;
}

}  // namespace
}  // namespace wide::tests
