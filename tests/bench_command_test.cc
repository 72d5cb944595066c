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
  EXPECT_EQ(report["rows"].size() + report["notes"].size(), 9u);
  for (const auto& row : report["rows"]) EXPECT_GT(row["measured"].get<double>(), 0) << row;
}

#ifndef WIDE_SANITIZED
// With real nodes; a figure of a run that does not learn, or ends with other weights than one node
// alone, would be an error.
TEST(BenchSeed, HasTheReportOf2024AndEveryGoal) {
  const Json report = run_to_end({"wide", "bench", "seed", "--seconds", "1", "--json"});

  int goals = 0;
  for (const auto& row : report["rows"]) goals += row["met"].is_boolean() ? 1 : 0;
  EXPECT_EQ(goals, 6);
  const Json& whole = report["rows"][0]["summary"];
  EXPECT_EQ(whole["nodes"].size(), 10u);
  EXPECT_TRUE(whole["reproducible"].get<bool>());
  EXPECT_NE(report["notes"].dump().find("a try-out"), std::string::npos);
}
#endif

TEST(BenchRpc, AsksAPoolAndABareServer) {
  const Json report = run_to_end({"wide", "bench", "rpc", "--seconds", "1", "--json"});

  ASSERT_EQ(report["rows"].size(), 3u);
  for (const auto& row : report["rows"]) {
    EXPECT_GT(row["measured"].get<double>(), 0) << row;
    EXPECT_GT(row["ratio"].get<double>(), 0) << row;
    EXPECT_EQ(row["target"], 0.9) << row;
    EXPECT_GT(row["server_cpu_us"].get<double>(), 0) << row;
  }
}

// A second is too little for ten thousand, and that is said.
TEST(BenchScale, TriesCrowdsThatIdleAndCrowdsThatWork) {
  const Json report = run_to_end({"wide", "bench", "scale", "--seconds", "1", "--json"});

  EXPECT_NE(report["notes"].dump().find("At most 500 connections"), std::string::npos);
  int slopes = 0;
  for (const auto& row : report["rows"]) {
    const auto name = row["name"].get<std::string>();
    slopes += name.starts_with("slope/") ? 1 : 0;
    if (name.ends_with("/commits")) {
      EXPECT_GT(row["measured"].get<double>(), 0) << row;
    }
  }
  EXPECT_EQ(slopes, 3);
}

}  // namespace
}  // namespace wide::tests
