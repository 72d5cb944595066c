#include "wide/apps/chaos/chaos_flags.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "wide/base/error.h"

namespace wide::apps {

namespace {

net::ChaosProxyOptions parsed(const std::vector<std::string>& words) {
  ChaosFlags flags;
  CommandLine line("wide-chaos", "", "", "");
  flags.declare(line);
  EXPECT_TRUE(line.parse(words));
  return proxy_options(flags);
}

Errc refusal(const std::vector<std::string>& words) {
  try {
    parsed(words);
  } catch (const Failure& failure) {
    return failure.error().code;
  }
  return Errc{};
}

}  // namespace

TEST(ChaosFlags, BecomeOptions) {
  const auto options =
      parsed({"--to", "127.0.0.1:7878", "--delay-ms", "1.5", "--chunk-bytes", "1", "--reset-every",
              "1000", "--stall-every", "2", "--stall-ms", "300", "--seconds", "0.5"});

  EXPECT_EQ(options.listen.text(), "127.0.0.1:0");
  EXPECT_EQ(options.to.text(), "127.0.0.1:7878");
  EXPECT_EQ(options.chaos.delay, std::chrono::microseconds(1500));
  EXPECT_EQ(options.chaos.chunk_bytes, 1u);
  EXPECT_EQ(options.chaos.reset_every_bytes, 1000u);
  EXPECT_EQ(options.chaos.stall_every, std::chrono::seconds(2));
  EXPECT_EQ(options.chaos.stall_span, std::chrono::milliseconds(300));
  EXPECT_EQ(options.run_for, std::chrono::milliseconds(500));
}

TEST(ChaosFlags, AreRefusedWhereTheyMakeNoSense) {
  EXPECT_EQ(refusal({}), Errc::kUsage);
  EXPECT_EQ(refusal({"--to", "127.0.0.1:1", "--stall-every", "1"}), Errc::kUsage);
  EXPECT_EQ(refusal({"--to", "127.0.0.1:1", "--delay-ms", "-1"}), Errc::kUsage);
  EXPECT_EQ(refusal({"--to", "127.0.0.1:1", "--seconds", "nan"}), Errc::kUsage);
}

TEST(ChaosFlags, ListenForThisMachineAloneUnlessTold) {
  const std::vector<std::string> open = {"--to", "127.0.0.1:1", "--listen", "0.0.0.0:0"};
  auto insecure = open;
  insecure.push_back("--insecure");

  EXPECT_EQ(refusal(open), Errc::kNeedsInsecure);
  EXPECT_EQ(refusal(insecure), Errc{});
}

TEST(ChaosCounts, AreNamedOneByOne) {
  net::ChaosCounts counts;
  counts.connections = 3;
  counts.faults[static_cast<std::size_t>(net::Fault::kHalfClose)] = 2;

  const auto json = counts_json(counts);

  EXPECT_EQ(json["connections"], 3);
  EXPECT_EQ(json["faults"]["half_closes"], 2);
  EXPECT_EQ(json["faults"].size(), net::kFaultCount);
  EXPECT_NE(counts_text(counts).find("half closes   2"), std::string::npos);
}

}  // namespace wide::apps
