#include "wide/net/coding_crew.h"

#include <gtest/gtest.h>

#include <asio/executor_work_guard.hpp>

#include "wide/net/link_coding.h"
#include "wide/net/steady.h"

namespace wide::net {
namespace {

using namespace std::chrono_literals;
using codec::Lossless;

constexpr std::size_t kFragmentFloats = wire::kFragmentBytes / sizeof(float);

class CodingCrewTest : public testing::Test {
 protected:
  wire::SharedPacket packet(std::size_t float_count) {
    const Floats state = take_floats(buffers_, float_count);
    for (std::size_t i = 0; i < float_count; ++i) state.values[i] = static_cast<float>(i % 1000);
    return std::make_shared<const wire::Packet>(wire::encode(wire::Snapshot{1, 2, {}, state}));
  }
  CodingCrew::Told count() {
    return [this](const codec::Trial& seen) { seen_.push_back(seen); };
  }
  // Until so many have been told of.
  void wait_for(std::size_t told_count) {
    while (seen_.size() < told_count) io_.run_one();
  }

  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> keep_{io_.get_executor()};
  BufferPool buffers_;
  std::vector<codec::Trial> seen_;
};

TEST_F(CodingCrewTest, CodesEveryFragmentAndTellsOfEach) {
  CodingCrew crew(io_, buffers_, {.threads = 2});
  const auto large = packet(3 * kFragmentFloats);

  const auto code = crew.code(large, Lossless::kZstd, count());
  ASSERT_TRUE(code);
  EXPECT_EQ(crew.waiting_count(), 4u);
  wait_for(4);

  for (std::size_t i = 0; i < 4; ++i) ASSERT_NE(code->find(i), nullptr) << i;
  EXPECT_LT(code->find(0)->bytes.size(), wire::kFragmentBytes);
  EXPECT_EQ(crew.waiting_count(), 0u);
  EXPECT_EQ(seen_[0].codec, Lossless::kZstd);
  EXPECT_GT(seen_[0].encode, 0ns);
  EXPECT_GT(crew.take_span(), 0ns);
  EXPECT_EQ(crew.take_span(), 0ns);
}

TEST_F(CodingCrewTest, LinksShareACodeWhileAnyHasIt) {
  CodingCrew crew(io_, buffers_, {});
  const auto large = packet(1000);

  auto first = crew.code(large, Lossless::kZstd, count());
  EXPECT_EQ(crew.code(large, Lossless::kZstd, count()), first) << "under way";
  EXPECT_NE(crew.code(large, Lossless::kLz4, count()), first);
  EXPECT_NE(crew.code(packet(1000), Lossless::kZstd, count()), first);
  wait_for(4);
  EXPECT_EQ(crew.code(large, Lossless::kZstd, count()), first) << "done";
  EXPECT_EQ(crew.waiting_count(), 0u);

  first.reset();
  crew.code(large, Lossless::kZstd, count());
  EXPECT_EQ(crew.waiting_count(), 1u) << "once more, since nobody had kept it";
}

TEST_F(CodingCrewTest, TakesOnNoMoreThanItsQueueHolds) {
  CodingCrew crew(io_, buffers_, {.threads = 1, .waiting_max = 2});

  EXPECT_TRUE(crew.code(packet(3 * kFragmentFloats), Lossless::kLz4, count()));
  EXPECT_FALSE(crew.code(packet(1000), Lossless::kLz4, count()));
  wait_for(4);
  EXPECT_TRUE(crew.code(packet(1000), Lossless::kLz4, count()));
}

TEST_F(CodingCrewTest, TriesSomeBytesBothWays) {
  CodingCrew crew(io_, buffers_, {});
  const auto large = packet(3 * kFragmentFloats);

  crew.try_out(large, {Lossless::kPlanes, 65536}, count());
  crew.try_out(large, {Lossless::kPlanes, 65536}, count());
  EXPECT_EQ(crew.waiting_count(), 1u) << "one for both";
  wait_for(2);

  EXPECT_EQ(seen_[0].raw_bytes, 65536u);
  EXPECT_LT(seen_[0].coded_bytes, 65536u);
  EXPECT_GT(seen_[0].encode, 0ns);
  EXPECT_GT(seen_[0].decode, 0ns);
}

TEST_F(CodingCrewTest, EndsWhileMuchIsWaiting) {
  const auto large = packet(20 * kFragmentFloats);
  {
    CodingCrew crew(io_, buffers_, {.threads = 2});
    crew.code(large, Lossless::kZlib9, count());
    wait_for(1);  // the threads are at work, and will post more while they end
  }
  const std::size_t told = seen_.size();
  keep_.reset();
  io_.run();

  EXPECT_EQ(seen_.size(), told) << "nobody is told who is not there to hear it";
}

TEST_F(CodingCrewTest, AFixedCodecIsUsedForAllThatIsLarge) {
  CodingCrew crew(io_, buffers_, {});
  LinkCoding coding(crew, engine::LosslessPlan::kLz4, 1024);

  EXPECT_FALSE(coding.is_large(*packet(200)));
  EXPECT_TRUE(coding.is_large(*packet(400)));
  const auto code = coding.code(packet(400), count(), steady_now());
  ASSERT_TRUE(code);
  EXPECT_EQ(code->codec(), Lossless::kLz4);
  EXPECT_FALSE(coding.wants_readings());
}

// A slow line, as the kernel would tell of it, and messages that get shorter.
TEST_F(CodingCrewTest, AutoLeavesNoneOnASlowLineAndSaysWhy) {
  CodingCrew crew(io_, buffers_, {});
  LinkCoding coding(crew, engine::LosslessPlan::kAuto, 1024);
  TcpReading slow{steady_now(), 0, 1, {}, 10ms};
  const auto large = packet(kFragmentFloats);
  std::optional<codec::Change> change;
  Time now = steady_now();

  EXPECT_FALSE(coding.code(large, count(), now));
  for (int message = 0; message < 200 && !change; ++message) {
    now += 1s;
    slow.at = now;
    slow.acked_bytes += 1'000'000;
    change = coding.learn(slow);
    coding.code(large, count(), now);
    wait_for(crew.waiting_count() > 0 ? seen_.size() + 1 : 0);
    if (!seen_.empty() && !change) change = coding.learn(seen_.back(), now);
    seen_.clear();
  }

  ASSERT_TRUE(change);
  EXPECT_EQ(change->from, Lossless::kNone);
  EXPECT_NE(change->to, Lossless::kNone);
  EXPECT_NE(described(*change).find("from=none to="), std::string::npos);
  EXPECT_TRUE(coding.code(large, count(), now));
}

TEST_F(CodingCrewTest, OneLongMessageIsEnoughToChoose) {
  CodingCrew crew(io_, buffers_, {});
  LinkCoding coding(crew, engine::LosslessPlan::kAuto, 1024);
  TcpReading slow{steady_now(), 0, 1, {}, 10ms};
  const auto large = packet(kFragmentFloats);
  std::optional<codec::Change> change;
  Time now = steady_now();

  coding.code(large, count(), now);
  for (int look = 0; look < 500 && !change; ++look) {
    now += 10ms;
    slow.at = now;
    slow.acked_bytes += 10'000;
    change = coding.learn(slow);
    coding.try_on(count(), now);
    wait_for(crew.waiting_count() > 0 ? seen_.size() + 1 : 0);
    if (!seen_.empty() && !change) change = coding.learn(seen_.back(), now);
    seen_.clear();
  }

  ASSERT_TRUE(change) << "five seconds of one message";
  EXPECT_EQ(change->from, Lossless::kNone);
}

}  // namespace
}  // namespace wide::net
