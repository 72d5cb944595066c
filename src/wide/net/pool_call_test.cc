#include "wide/net/pool_call.h"

#include <gtest/gtest.h>

#include "wide/net/test_peers.h"

namespace wide::net {

TEST(AskPool, TellsJobAndState) {
  PoolOnThread pool({});

  const auto answer = ask_pool(pool.address());

  ASSERT_TRUE(answer) << describe(answer.error());
  EXPECT_EQ(answer->status.job_name, "small");
  EXPECT_EQ(answer->status.state, "waiting for nodes");
  const auto job = engine::parse_job(answer->welcome.job_text, "welcome");
  ASSERT_TRUE(job);
  EXPECT_EQ(*job, small_job());
}

TEST(AskPool, TakesNames) {
  PoolOnThread pool({});

  EXPECT_TRUE(ask_pool({"localhost", pool.address().port}));
}

TEST(AskPool, TimesAsManyRoundTripsAsAskedFor) {
  PoolOnThread pool({});

  const auto answer = ask_pool(pool.address(), {.round_trips = 5});

  ASSERT_TRUE(answer) << describe(answer.error());
  EXPECT_EQ(answer->round_trips.size(), 5u);
  for (const auto span : answer->round_trips) EXPECT_GT(span, 0ns);
}

TEST(AskPool, SaysWhatWasTriedWhereNobodyListens) {
  Endpoint nobody;
  { nobody = RawListener().address(); }

  const auto answer = ask_pool(nobody, {.patience = 2s});

  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Errc::kPoolUnreachable);
  EXPECT_NE(answer.error().detail.find(nobody.url()), std::string::npos);
  EXPECT_NE(answer.error().detail.find("refused"), std::string::npos);
}

TEST(AskPool, GivesUpOnASilentPeerInTime) {
  RawListener silent;
  const Time start = steady_now();

  const auto answer = ask_pool(silent.address(), {.patience = 300ms});

  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Errc::kPoolUnreachable);
  EXPECT_LT(steady_now() - start, 2s);
}

TEST(AskPool, PassesOnARefusal) {
  PoolOnThread pool({.pool = {.link_count_max = 0}});

  const auto answer = ask_pool(pool.address());

  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Errc::kPoolFull);
}

TEST(AskPool, NoticesAStrangerOnTheLine) {
  RawListener listener;
  auto answer = std::async(std::launch::async, [&] { return ask_pool(listener.address()); });
  auto caller = listener.accept();

  caller.say("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");

  const auto outcome = answer.get();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Errc::kBadFrame);
}

TEST(AskPool, NoticesAnotherProtocolVersion) {
  RawListener listener;
  auto answer = std::async(std::launch::async, [&] { return ask_pool(listener.address()); });
  auto caller = listener.accept();
  auto bytes = frames({wire::Welcome{}});
  bytes[4] = static_cast<char>(wire::kProtocolVersion + 1);

  caller.say(bytes);

  const auto outcome = answer.get();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Errc::kOtherProtocol);
}

}  // namespace wide::net
