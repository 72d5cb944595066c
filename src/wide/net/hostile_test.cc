// Callers with bad manners cost a pool a bounded time and change nothing.
#include <gtest/gtest.h>

#include <list>

#include "wide/net/pool_call.h"
#include "wide/net/test_peers.h"

namespace wide::net {

namespace {

PoolOnThread::Settings hasty(std::uint64_t steps = 20) {
  PoolOnThread::Settings settings;
  settings.job = small_job(steps);
  settings.pool.heartbeat = 20ms;
  settings.pool.hello_max = 200ms;
  settings.pool.silence_max = 200ms;
  settings.server.farewell_max = 200ms;
  return settings;
}

}  // namespace

TEST(HostilePeer, IsCutWhenItNeverSaysHello) {
  PoolOnThread pool(hasty());
  auto caller = RawPeer::dial(pool.address());

  EXPECT_TRUE(caller.is_cut());
}

TEST(HostilePeer, IsCutWhenItDripsByteByByte) {
  PoolOnThread pool(hasty());
  auto caller = RawPeer::dial(pool.address());
  const auto hello = frames({wire::Hello{}});

  std::size_t said = 0;
  EXPECT_TRUE(eventually([&] {
    if (said + 1 < hello.size()) caller.say(hello.substr(said++, 1));
    return caller.is_cut(5ms);
  }));
}

TEST(HostilePeer, IsCutWhenItJoinsAndFallsSilent) {
  PoolOnThread pool(hasty());
  auto caller = RawPeer::dial(pool.address());
  caller.say(frames({wire::Hello{}}));

  EXPECT_TRUE(caller.is_cut());
}

TEST(HostilePeer, IsCutAtOnceForGarbage) {
  PoolOnThread pool({});
  auto caller = RawPeer::dial(pool.address());

  caller.say("GET / HTTP/1.1\r\nHost: pool\r\nUser-Agent: lost\r\n\r\n");

  EXPECT_TRUE(caller.is_cut(2s));
}

TEST(HostilePeer, IsCutForAFlippedBit) {
  PoolOnThread pool({});
  auto caller = RawPeer::dial(pool.address());
  auto bytes = frames({wire::Hello{}});
  bytes[40] ^= 1;

  caller.say(bytes);

  EXPECT_TRUE(caller.is_cut(2s));
}

TEST(HostilePeer, IsCutWhenItReadsTooSlowly) {
  auto settings = hasty();
  settings.pool.silence_max = 60s;
  settings.job.net.buffer_bytes = 4096;
  settings.server.outbox_bytes_max = 64 << 10;
  PoolOnThread pool(settings);
  auto caller = RawPeer::dial(pool.address(), 4096);
  std::vector<wire::Message> questions{wire::Hello{}, wire::Ready{}};
  for (int i = 0; i < 10'000; ++i) {  // each pair is answered with a snapshot and a lease
    questions.push_back(wire::Want{1});
    questions.push_back(wire::Resync{});
  }

  const bool all_said = caller.say(frames(questions));

  EXPECT_TRUE(!all_said || caller.is_cut_unread());
  EXPECT_TRUE(ask_pool(pool.address()));
}

TEST(HostilePeer, GetsNoMoreReportsThanAPersonCouldRead) {
  PoolOnThread pool(hasty());
  auto caller = RawPeer::dial(pool.address(), 4096);
  wire::Hello hello;
  hello.role = wire::Role::kObserver;
  std::vector<wire::Message> questions{hello};
  questions.resize(20'000, wire::StatusRequest{});

  caller.say(frames(questions));

  EXPECT_TRUE(ask_pool(pool.address())) << "the pool has time for others";
}

TEST(HostilePeer, ChangesNothingForTheOthers) {
  std::string clean;
  {
    PoolOnThread pool(hasty());
    NodeOnThread node(pool.address());
    ASSERT_TRUE(pool.ends_within(15s));
    clean = pool.weights();
  }
  PoolOnThread pool(hasty());
  std::list<RawPeer> crowd;
  for (int i = 0; i < 60; ++i) {
    crowd.emplace_back(RawPeer::make_socket());
    crowd.back().connect_to(pool.address());
    if (i % 3 == 0) crowd.back().say(frames({wire::Hello{}}));
    if (i % 3 == 1) crowd.back().say("x");
  }

  NodeOnThread node(pool.address());

  ASSERT_TRUE(pool.ends_within(15s));
  EXPECT_EQ(pool.weights(), clean);
}

}  // namespace wide::net
