#include "wide/apps/cli/summary_json.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include <nlohmann/json.hpp>

#include "wide/apps/cli/summary_table.h"

namespace wide::apps {

namespace {
RunFacts some_facts() {
  RunFacts facts;
  auto& summary = facts.summary;
  summary.job = "fashion";
  summary.strategy = "sync";
  summary.steps = 10;
  summary.units = 80;
  summary.samples = 2560;
  summary.seconds = 4;
  summary.bytes_sent = 1000;
  summary.bytes_received = 3000;
  summary.raw_bytes = 6000;
  engine::NodeSummary node;
  node.name = "n1";
  node.slots = 2;
  node.times.compute_ns = 1'500'000'000;
  summary.nodes.push_back(node);
  facts.memory_bytes_peak = 123;
  facts.run_folder = "runs/x";
  return facts;
}

void expect_keys(const nlohmann::ordered_json& json, const std::vector<const char*>& keys) {
  for (const char* key : keys) EXPECT_TRUE(json.contains(key)) << key;
}
}  // namespace

TEST(SummaryJson, HasEveryFieldOfTheContract) {
  const auto json = summary_json(some_facts());

  expect_keys(json, {"job",
                     "job_id",
                     "strategy",
                     "steps",
                     "epochs",
                     "units",
                     "batches",
                     "samples",
                     "seconds",
                     "batches_per_second",
                     "samples_per_second",
                     "efficiency",
                     "loss_first",
                     "loss_last",
                     "loss_mean",
                     "accuracy",
                     "weights_sha256",
                     "state_hash",
                     "numerics_classes",
                     "reproducible",
                     "bytes_sent",
                     "bytes_received",
                     "raw_bytes",
                     "compression_ratio",
                     "network_bytes_per_second",
                     "memory_bytes_peak",
                     "leases_reissued",
                     "leases_hedged",
                     "shares_rejected",
                     "nodes"});
}

TEST(SummaryJson, HasEveryFieldOfANode) {
  const auto json = summary_json(some_facts());

  ASSERT_EQ(json["nodes"].size(), 1u);
  expect_keys(json["nodes"][0],
              {"name", "slots", "units", "share", "samples_per_second", "compute_seconds",
               "encode_seconds", "network_seconds", "wait_seconds", "bytes_sent", "bytes_received",
               "compression_ratio", "loss_mean", "rejected"});
  EXPECT_DOUBLE_EQ(json["nodes"][0]["compute_seconds"].get<double>(), 1.5);
}

TEST(SummaryJson, ComputesRatesFromSecondsOfTraining) {
  const auto json = summary_json(some_facts());

  EXPECT_EQ(json["batches"], 80);
  EXPECT_DOUBLE_EQ(json["batches_per_second"].get<double>(), 20);
  EXPECT_DOUBLE_EQ(json["samples_per_second"].get<double>(), 640);
  EXPECT_DOUBLE_EQ(json["network_bytes_per_second"].get<double>(), 1000);
  EXPECT_EQ(json["raw_bytes"], 6000);
  EXPECT_DOUBLE_EQ(json["compression_ratio"].get<double>(), 1.5);
}

TEST(SummaryJson, SaysNullWhereAFactDoesNotApply) {
  const auto json = summary_json(some_facts());

  EXPECT_TRUE(json["efficiency"].is_null());
  EXPECT_TRUE(json["accuracy"].is_null());
  EXPECT_FALSE(json.contains("error"));
}

TEST(SummaryJson, StaysValidJsonAfterDivergence) {
  auto facts = some_facts();
  facts.summary.loss_last = std::numeric_limits<double>::quiet_NaN();
  facts.error = Error{Errc::kDiverged, "step 7 unit 3"};

  const auto json = nlohmann::json::parse(summary_json(facts).dump());

  EXPECT_TRUE(json["loss_last"].is_null());
  EXPECT_EQ(json["error"]["code"], "W601");
  EXPECT_EQ(json["error"]["exit_code"], 6);
}

TEST(SummaryJson, HasNoRatesBeforeTheFirstSecond) {
  auto facts = some_facts();
  facts.summary.seconds = 0;

  EXPECT_EQ(summary_json(facts)["samples_per_second"].get<double>(), 0);
}

TEST(SummaryTable, EndsWithTheHashOfTheWeights) {
  const auto facts = some_facts();

  const std::string table = summary_table(facts);

  EXPECT_TRUE(table.ends_with("weights_sha256 " + facts.summary.weights_sha256.hex() + "\n"));
  EXPECT_NE(table.find("fashion"), std::string::npos);
  EXPECT_NE(table.find("\nnode"), std::string::npos);
}

TEST(SummaryTable, DoesNotLetANameSteerTheTerminal) {
  auto facts = some_facts();
  facts.summary.nodes[0].name = "evil\x1b[2J";

  EXPECT_EQ(summary_table(facts).find('\x1b'), std::string::npos);
}

}  // namespace wide::apps
