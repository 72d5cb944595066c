// Lines and codecs with given speeds, and what becomes of messages sent by the choice's word. Times
// are the model's: no clock, no sleep.

#include "wide/codec/choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "wide/base/philox.h"

namespace wide::codec {
namespace {

using namespace std::chrono_literals;

constexpr Lossless kCodecs[] = {Lossless::kNone, Lossless::kLz4,   Lossless::kZstd,
                                Lossless::kZlib, Lossless::kZlib9, Lossless::kPlanes};

// What a codec does to some kind of bytes, once all caches are warm.
struct Speed {
  double ratio = 1;
  double encode_bytes_per_second = 1e12;
  double decode_bytes_per_second = 1e12;
  double fixed_seconds = 0;
  double fixed_bytes = 0;
};

using Speeds = std::array<Speed, kLosslessCount>;  // by codec's number

constexpr Speeds kGradients = {{{},
                                {1.004, 20e9, 39e9, 2e-6, 16},
                                {0.924, 0.98e9, 1.33e9, 8e-6, 60},
                                {0.93, 40e6, 300e6, 30e-6, 40},
                                {0.92, 20e6, 300e6, 40e-6, 40},
                                {0.83, 1.58e9, 2.76e9, 2e-6, 110}}};
constexpr Speeds kSparseGradients = {{{},
                                      {0.462, 0.59e9, 2.9e9, 2e-6, 16},
                                      {0.373, 0.36e9, 1.0e9, 8e-6, 60},
                                      {0.35, 50e6, 300e6, 30e-6, 40},
                                      {0.32, 8e6, 300e6, 40e-6, 40},
                                      {0.277, 1.57e9, 2.77e9, 2e-6, 110}}};
constexpr Speeds kText = {{{},
                           {0.45, 0.6e9, 3e9, 2e-6, 16},
                           {0.30, 0.4e9, 1.2e9, 8e-6, 60},
                           {0.29, 70e6, 300e6, 30e-6, 40},
                           {0.21, 15e6, 300e6, 40e-6, 40},
                           {1.0, 2e9, 2.76e9, 2e-6, 110}}};

struct Line {
  double bytes_per_second = 0;
  Duration rtt{};
};
constexpr Line kTenMegabit{1.25e6, 20ms};
constexpr Line kHundredMegabit{12.5e6, 2ms};
constexpr Line kGigabit{125e6, 200us};
constexpr Line kLoopback{1.5e9, 20us};
constexpr Line kLines[] = {kTenMegabit, kHundredMegabit, kGigabit, kLoopback};

Duration duration(double s) { return Duration(static_cast<std::int64_t>(s * 1e9)); }

class Simulation {
 public:
  Simulation(const Speeds& codecs, Line on, double noise = 0, ChoiceOptions with = {})
      : speeds(codecs), line(on), choice(with), options(with), noise_(noise) {}

  double encode_seconds(Lossless codec, double bytes) const {
    const Speed& speed = speeds[static_cast<std::size_t>(codec)];
    return speed.fixed_seconds + bytes / speed.encode_bytes_per_second;
  }
  double decode_seconds(Lossless codec, double bytes) const {
    const Speed& speed = speeds[static_cast<std::size_t>(codec)];
    return speed.fixed_seconds + bytes / speed.decode_bytes_per_second;
  }
  double coded_bytes(Lossless codec, double bytes) const {
    const Speed& speed = speeds[static_cast<std::size_t>(codec)];
    return std::min(bytes, speed.fixed_bytes + bytes * speed.ratio);
  }

  // What a message takes in truth.
  double message_seconds(Lossless codec, double bytes) const {
    if (codec == Lossless::kNone) return bytes / line.bytes_per_second;
    const double block = std::min(bytes, static_cast<double>(options.block_bytes));
    const double encode = encode_seconds(codec, block);
    const double travel = coded_bytes(codec, block) / line.bytes_per_second;
    const double decode = decode_seconds(codec, block);
    const double pace = std::max(travel, std::max(encode, decode) / options.threads);
    return encode + travel + decode + (bytes / block - 1) * pace;
  }

  Lossless best(double bytes) const {
    return *std::ranges::min_element(kCodecs, {},
                                     [&](Lossless codec) { return message_seconds(codec, bytes); });
  }

  // The line says what it is, give or take; the message goes out; maybe something is tried.
  void send(std::size_t bytes) {
    note(choice.learn(LinkFacts{line.bytes_per_second * roughly(), line.rtt}, now));
    const Lossless codec = choice.choose(bytes);
    if (const auto wish = choice.trial(bytes, now)) {
      EXPECT_NE(wish->codec, codec);
      EXPECT_LE(wish->raw_bytes, bytes);
      tried[static_cast<std::size_t>(wish->codec)].push_back(now);
      const Trial trial = trial_of(wish->codec, wish->raw_bytes);
      now += trial.encode + trial.decode;
      note(choice.learn(trial, now));
    }
    now += duration(message_seconds(codec, static_cast<double>(bytes)));
    if (codec == Lossless::kNone) return;
    Trial earnest = trial_of(codec, std::min(bytes, options.block_bytes));
    earnest.decode = {};  // only the other end knows
    note(choice.learn(earnest, now));
  }

  void send_for(Duration span, std::size_t bytes) {
    for (const Time end = now + span; now < end;) send(bytes);
  }

  Speeds speeds;
  Line line;
  Choice choice;
  ChoiceOptions options;
  Time now{};
  std::vector<Change> changes;
  std::array<std::vector<Time>, kLosslessCount> tried;

 private:
  Trial trial_of(Lossless codec, std::size_t bytes) {
    const auto size = static_cast<double>(bytes);
    const auto coded = static_cast<std::size_t>(coded_bytes(codec, size));
    return {codec, bytes, coded < bytes ? coded : 0,
            duration(encode_seconds(codec, size) * roughly()),
            duration(decode_seconds(codec, size) * roughly())};
  }
  double roughly() { return std::max(1 + noise_ * random_.normal(drawn_++), 0.1); }
  void note(std::optional<Change> change) {
    if (change) changes.push_back(std::move(*change));
  }

  double noise_;
  RandomStream random_{1, 0, 0};
  std::uint64_t drawn_ = 0;
};

// Messages enough for every line: a second's worth, 4 MB at most.
std::size_t message_bytes(const Line& line) {
  return static_cast<std::size_t>(std::min(4e6, line.bytes_per_second));
}

TEST(Choice, BeginsWithNoneAndStaysWhileTheLineIsUnknown) {
  Choice choice;
  for (Time now{}; now < 100s; now += 1s) {
    EXPECT_EQ(choice.choose(10'000'000), Lossless::kNone);
    EXPECT_EQ(choice.trial(10'000'000, now), std::nullopt);
    EXPECT_FALSE(choice.learn(LinkFacts{}, now));
  }
}

TEST(Choice, FindsTheBestCodecOfEveryLine) {
  for (const auto& speeds : {kGradients, kSparseGradients, kText}) {
    for (const Line& line : kLines) {
      for (const unsigned threads : {1u, 4u}) {
        Simulation simulation(speeds, line, 0, {.threads = threads});
        const std::size_t bytes = message_bytes(line);
        simulation.send_for(60s, bytes);

        const auto size = static_cast<double>(bytes);
        const Lossless chosen = simulation.choice.choose(bytes);
        const double taken = simulation.message_seconds(chosen, size);
        const Lossless best = simulation.best(size);
        EXPECT_LE(taken, simulation.message_seconds(best, size) / 0.95)
            << lossless_name(chosen) << " instead of " << lossless_name(best) << " at "
            << line.bytes_per_second << " with " << threads;
        EXPECT_LE(simulation.changes.size(), 3u);
      }
    }
  }
}

TEST(Choice, TakesPlanesForGradientsWhereTheLineIsSlowerThanPlanes) {
  for (const Line& line : {kTenMegabit, kHundredMegabit, kGigabit}) {
    Simulation simulation(kGradients, line);
    simulation.send_for(60s, message_bytes(line));
    EXPECT_EQ(simulation.choice.codec(), Lossless::kPlanes);
  }
  Simulation loopback(kGradients, kLoopback);
  loopback.send_for(10s, message_bytes(kLoopback));
  EXPECT_EQ(loopback.choice.codec(), Lossless::kNone);
  EXPECT_TRUE(loopback.changes.empty());
}

// All that a pool does, trials and the time until the choice is made included.
TEST(Choice, IsNeverMuchSlowerThanNone) {
  for (const auto& speeds : {kGradients, kSparseGradients, kText}) {
    for (const Line& line : kLines) {
      for (const double noise : {0.0, 0.3}) {
        Simulation simulation(speeds, line, noise);
        const std::size_t bytes = message_bytes(line);
        std::size_t count = 0;
        for (; simulation.now < 30s; ++count) simulation.send(bytes);

        const double plain = static_cast<double>(count * bytes) / line.bytes_per_second;
        EXPECT_LE(seconds(simulation.now), plain / 0.98) << line.bytes_per_second;
      }
    }
  }
}

TEST(Choice, KeepsTrialsWithinTheirShare) {
  for (const auto& speeds : {kGradients, kSparseGradients}) {
    for (const Line& line : kLines) {
      Simulation simulation(speeds, line, 0.2);
      while (simulation.now < 60s) {
        simulation.send(message_bytes(line));
        ASSERT_LE(seconds(simulation.choice.spent_on_trials()), 0.005 * seconds(simulation.now));
      }
    }
  }
}

TEST(Choice, ChangesSeldomOnANoisyLine) {
  // Where planes and none are as good as each other, and every measurement is off by a third.
  Simulation simulation(kGradients, {1.6e9, 20us}, 0.3);
  simulation.send_for(60s, 4'000'000);
  EXPECT_LE(simulation.changes.size(), 6u);

  Simulation clear(kGradients, kHundredMegabit, 0.3);
  clear.send_for(600s, message_bytes(kHundredMegabit));
  EXPECT_EQ(clear.choice.codec(), Lossless::kPlanes);
  EXPECT_EQ(clear.changes.size(), 1u);
}

TEST(Choice, FollowsALineThatBecomesFastAndSlowAgain) {
  Simulation simulation(kGradients, kGigabit);
  simulation.send_for(20s, 4'000'000);
  ASSERT_EQ(simulation.choice.codec(), Lossless::kPlanes);

  simulation.line = {10e9, 20us};
  for (int i = 0; i < 10; ++i) simulation.send(4'000'000);
  EXPECT_EQ(simulation.choice.codec(), Lossless::kNone);

  simulation.line = kGigabit;
  simulation.send_for(3s, 4'000'000);
  EXPECT_EQ(simulation.choice.codec(), Lossless::kPlanes);
}

TEST(Choice, FollowsBytesThatChange) {
  constexpr std::size_t kBytes = 4'000'000;
  Simulation simulation(kText, kGigabit);
  for (const auto& speeds :
       {kText, kGradients, kText, kSparseGradients, kGradients, kSparseGradients, kText}) {
    simulation.speeds = speeds;
    simulation.send_for(180s, kBytes);

    const Lossless chosen = simulation.choice.choose(kBytes);
    EXPECT_LE(simulation.message_seconds(chosen, kBytes),
              simulation.message_seconds(simulation.best(kBytes), kBytes) / 0.95)
        << lossless_name(chosen);
  }
  for (const Change& change : simulation.changes) {
    EXPECT_EQ(change.reason.find("inf"), std::string::npos) << change.reason;
  }
}

// Planes are as good as none here, and none is taken; that must not be for ever.
TEST(Choice, TriesAgainWhatIsChosenButNotUsed) {
  Simulation simulation(kGradients, kGigabit);
  double& ratio = simulation.speeds[static_cast<std::size_t>(Lossless::kPlanes)].ratio;
  simulation.speeds[static_cast<std::size_t>(Lossless::kZstd)].ratio = 1;
  simulation.send_for(20s, 4'000'000);
  ASSERT_EQ(simulation.choice.choose(4'000'000), Lossless::kPlanes);

  ratio = 0.985;
  simulation.send_for(60s, 4'000'000);
  EXPECT_EQ(simulation.choice.choose(4'000'000), Lossless::kNone);

  ratio = 0.83;
  simulation.send_for(180s, 4'000'000);
  EXPECT_EQ(simulation.choice.choose(4'000'000), Lossless::kPlanes);
}

TEST(Choice, IsNotMovedByOneFact) {
  Simulation simulation(kGradients, kHundredMegabit);
  simulation.send_for(60s, 4'000'000);
  ASSERT_EQ(simulation.choice.codec(), Lossless::kPlanes);
  const double before = simulation.choice.model().bytes_per_second();

  EXPECT_FALSE(simulation.choice.learn(LinkFacts{50e9, 1ms}, simulation.now));
  EXPECT_FALSE(simulation.choice.learn(LinkFacts{3.0, 1ms}, simulation.now));

  EXPECT_NEAR(simulation.choice.model().bytes_per_second(), before, 0.01 * before);

  Choice young;
  young.learn(LinkFacts{12.5e6, 1ms}, 0s);
  young.learn(LinkFacts{50e9, 1ms}, 1s);
  EXPECT_LE(young.model().bytes_per_second(), 1.1 * 12.5e6);
  young.learn(LinkFacts{51e9, 1ms}, 2s);
  EXPECT_GE(young.model().bytes_per_second(), 50e9);
}

TEST(Choice, TriesHopelessCodecsEverLessOften) {
  Simulation simulation(kGradients, kGigabit);
  simulation.send_for(300s, 4'000'000);

  const auto& zlib = simulation.tried[static_cast<std::size_t>(Lossless::kZlib)];
  const auto& zstd = simulation.tried[static_cast<std::size_t>(Lossless::kZstd)];
  EXPECT_LE(zlib.size(), 6u);
  EXPECT_GE(zstd.size(), 20u);
  EXPECT_TRUE(simulation.tried[static_cast<std::size_t>(Lossless::kZlib9)].empty());
}

TEST(Choice, TakesZlib9OnlyWhereTheLineIsReallySlow) {
  Simulation slow(kText, kTenMegabit);
  slow.send_for(120s, message_bytes(kTenMegabit));
  EXPECT_EQ(slow.choice.codec(), Lossless::kZlib9);

  // It would still be the best by time alone; but a processor is not for that.
  Simulation faster(kText, {2.8e6, 10ms});
  faster.send_for(120s, 1'000'000);
  EXPECT_NE(faster.choice.codec(), Lossless::kZlib9);
  EXPECT_NE(faster.choice.codec(), Lossless::kNone);

  slow.line = {20e6, 10ms};
  for (int i = 0; i < 10; ++i) slow.send(1'000'000);
  EXPECT_NE(slow.choice.codec(), Lossless::kZlib9);
}

TEST(Choice, LeavesSmallMessagesAlone) {
  for (const Line& line : {kTenMegabit, kHundredMegabit, kGigabit}) {
    Simulation simulation(kGradients, line);
    simulation.send_for(60s, message_bytes(line));
    ASSERT_EQ(simulation.choice.codec(), Lossless::kPlanes);

    EXPECT_EQ(simulation.choice.choose(300), Lossless::kNone);
    EXPECT_GE(simulation.choice.threshold_bytes(), 1024u);
    EXPECT_LE(simulation.choice.threshold_bytes(), 100'000u);
    // What it is taken for is in truth no slower for it.
    const double least = 1.1 * static_cast<double>(simulation.choice.threshold_bytes());
    EXPECT_LE(simulation.message_seconds(Lossless::kPlanes, least),
              simulation.message_seconds(Lossless::kNone, least));
  }
}

TEST(Choice, RaisesTheThresholdWithFixedCosts) {
  Simulation cheap(kGradients, kGigabit);
  Speeds slow_start = kGradients;
  slow_start[static_cast<std::size_t>(Lossless::kPlanes)].fixed_seconds = 200e-6;
  Simulation dear(slow_start, kGigabit);
  cheap.send_for(60s, 4'000'000);
  dear.send_for(60s, 4'000'000);
  EXPECT_GT(dear.choice.threshold_bytes(), 2 * cheap.choice.threshold_bytes());
}

TEST(Choice, GivesItsReasonsInWords) {
  Simulation simulation(kGradients, kHundredMegabit);
  simulation.send_for(60s, 4'000'000);

  ASSERT_EQ(simulation.changes.size(), 1u);
  EXPECT_EQ(simulation.changes[0].from, Lossless::kNone);
  EXPECT_EQ(simulation.changes[0].to, Lossless::kPlanes);
  // 0.83 of 80 ms, and 1.04 ms for the first and last of 4 MB's blocks.
  EXPECT_EQ(simulation.changes[0].reason, "66.7 ms instead of 80 ms per MB at 12.5 MB/s");
}

TEST(Choice, WaitsForTheTrialItAskedForButNotForever) {
  Choice choice;
  choice.learn(LinkFacts{12.5e6, 1ms}, 0s);
  choice.trial(1'000'000, 0s);  // from here on time is counted
  ASSERT_TRUE(choice.trial(1'000'000, 10s));

  EXPECT_FALSE(choice.trial(1'000'000, 11s));
  EXPECT_TRUE(choice.trial(1'000'000, 21s));
}

TEST(Choice, DoesNotWaitForATrialThatWasRefused) {
  Choice choice;
  choice.learn(LinkFacts{12.5e6, 1ms}, 0s);
  choice.trial(1'000'000, 0s);
  ASSERT_TRUE(choice.trial(1'000'000, 10s));
  choice.trial_refused();

  EXPECT_TRUE(choice.trial(1'000'000, 11s));
}

}  // namespace
}  // namespace wide::codec
