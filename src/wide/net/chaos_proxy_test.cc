#include "wide/net/chaos_proxy.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <cerrno>
#include <future>
#include <string>

#include "wide/net/steady.h"
#include "wide/net/test_sockets.h"

namespace wide::net {

namespace {

std::string counting(std::size_t count) {
  std::string bytes(count, '\0');
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<char>(i * 7 + i / 256);
  return bytes;
}

class ProxyOnThread final {
 public:
  ProxyOnThread(const Endpoint& to, const ChaosOptions& chaos)
      : proxy_({.to = to, .chaos = chaos}),
        ended_(std::async(std::launch::async, [this] { proxy_.run(); })) {}
  ~ProxyOnThread() {
    if (ended_.valid()) proxy_.stop();
  }

  const Endpoint& address() const { return proxy_.bound(); }
  ChaosCounts stop() {
    proxy_.stop();
    ended_.get();
    return proxy_.counts();
  }

 private:
  ChaosProxy proxy_;
  std::future<void> ended_;
};

// A caller, somebody who was called, and the proxy between them.
struct Line {
  explicit Line(const ChaosOptions& chaos)
      : proxy(listener.address(), chaos),
        caller(RawPeer::dial(proxy.address())),
        called(listener.accept()) {}

  // What arrives of `bytes` until the end of the stream, with nobody else to wait for.
  std::optional<std::string> sent_up(const std::string& bytes) {
    auto saying = std::async(std::launch::async, [&] {
      (void)caller.say(bytes);
      caller.finish();
    });
    auto heard = called.hear_out();
    called.finish();
    saying.get();
    return heard;
  }

  RawListener listener;
  ProxyOnThread proxy;
  RawPeer caller;
  RawPeer called;
};

}  // namespace

TEST(ChaosProxy, WithNoFaultsCarriesEveryByteBothWays) {
  Line line({});
  const std::string up = counting(3'000'000);
  const std::string down = counting(70'000);

  ASSERT_TRUE(line.called.say(down));
  const auto heard_up = line.sent_up(up);
  const auto heard_down = line.caller.hear_out();
  const ChaosCounts counts = line.proxy.stop();

  EXPECT_TRUE(heard_up == up);
  EXPECT_TRUE(heard_down == down);
  EXPECT_EQ(counts.connections, 1u);
  EXPECT_EQ(counts.bytes_up, up.size());
  EXPECT_EQ(counts.bytes_down, down.size());
  EXPECT_EQ(counts.faults, decltype(counts.faults){});
}

TEST(ChaosProxy, CarriesEveryByteOneByOne) {
  Line line({.chunk_bytes = 1});
  const std::string up = counting(5000);

  EXPECT_TRUE(line.sent_up(up) == up);
}

TEST(ChaosProxy, DelaysBothWays) {
  Line line({.delay = 40ms});
  const Time start = steady_now();

  ASSERT_TRUE(line.caller.say("ping"));
  ASSERT_TRUE(line.called.hears(4));
  ASSERT_TRUE(line.called.say("pong"));
  ASSERT_TRUE(line.caller.hears(4));

  EXPECT_GE(steady_now() - start, 80ms);
}

TEST(ChaosProxy, FlipsBitsAndCountsThem) {
  Line line({.seed = 1, .flip_every_bytes = 1000});
  const std::string up = counting(50'000);

  const auto heard = line.sent_up(up);
  const ChaosCounts counts = line.proxy.stop();

  ASSERT_TRUE(heard.has_value());
  ASSERT_EQ(heard->size(), up.size());
  std::size_t different = 0;
  for (std::size_t i = 0; i < up.size(); ++i) different += up[i] != (*heard)[i];
  EXPECT_EQ(different, counts.of(Fault::kFlip));
  EXPECT_GT(different, 0u);
}

TEST(ChaosProxy, TruncationEndsBothDirectionsWithoutAReset) {
  Line line({.seed = 2, .truncate_every_bytes = 20'000});
  const std::string up = counting(400'000);

  const auto heard = line.sent_up(up);
  const auto down = line.caller.hear_out();
  const ChaosCounts counts = line.proxy.stop();

  ASSERT_TRUE(heard.has_value());
  EXPECT_LT(heard->size(), up.size());
  EXPECT_TRUE(up.starts_with(*heard));
  EXPECT_EQ(down, "");
  EXPECT_EQ(line.called.last_error(), 0);
  EXPECT_EQ(line.caller.last_error(), 0);
  EXPECT_EQ(counts.of(Fault::kTruncate), 1u);
}

TEST(ChaosProxy, AHalfCloseLeavesTheOtherDirectionOpen) {
  Line line({.seed = 3, .half_close_every_bytes = 20'000});
  auto saying = std::async(std::launch::async, [&] { return line.caller.say(counting(400'000)); });

  const auto heard = line.called.hear_out();
  ASSERT_TRUE(line.called.say("still here"));
  const bool still = line.caller.hears(10);

  ASSERT_TRUE(heard.has_value());
  EXPECT_LT(heard->size(), 400'000u);
  EXPECT_TRUE(still);
  EXPECT_TRUE(saying.get()) << "what is not passed on is swallowed";
}

TEST(ChaosProxy, AResetIsSeenAsAResetAtBothEnds) {
  Line line({.seed = 4, .reset_every_bytes = 20'000});
  auto saying = std::async(std::launch::async, [&] { (void)line.caller.say(counting(400'000)); });

  const auto heard = line.called.hear_out();
  saying.get();
  (void)line.caller.hear_out();
  const ChaosCounts counts = line.proxy.stop();

  ASSERT_TRUE(heard.has_value());
  EXPECT_EQ(line.called.last_error(), ECONNRESET);
  EXPECT_EQ(line.caller.last_error(), ECONNRESET);
  EXPECT_EQ(counts.of(Fault::kReset), 1u);
}

TEST(ChaosProxy, PassesAResetOn) {
  Line line({});
  ASSERT_TRUE(line.caller.say("hello"));
  ASSERT_TRUE(line.called.hears(5));

  line.caller.reset();

  EXPECT_TRUE(line.called.is_cut());
  EXPECT_EQ(line.called.last_error(), ECONNRESET);
}

TEST(ChaosProxy, ResetsACallerWhomNobodyAnswers) {
  Endpoint nobody;
  {
    const RawListener gone;
    nobody = gone.address();
  }
  ProxyOnThread proxy(nobody, {});
  RawPeer caller = RawPeer::dial(proxy.address());

  EXPECT_TRUE(caller.is_cut());
  EXPECT_EQ(proxy.stop().dials_failed, 1u);
}

TEST(ChaosProxy, StopsWhileBytesAreUnderWay) {
  Line line({.delay = 60s});
  ASSERT_TRUE(line.caller.say(counting(10'000)));

  const ChaosCounts counts = line.proxy.stop();

  EXPECT_TRUE(line.called.is_cut());
  EXPECT_EQ(counts.bytes_up, 0u);
}

}  // namespace wide::net
