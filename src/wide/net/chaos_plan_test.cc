#include "wide/net/chaos_plan.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <bit>

namespace wide::net {

namespace {

using namespace std::chrono_literals;
using Bytes = std::vector<std::byte>;

constexpr Time kOpened = 100s;

Bytes counting(std::size_t count) {
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 256);
  return bytes;
}

// Everything that came out of a stream, with the offsets of its marks.
struct Shaped {
  Bytes bytes;
  std::vector<std::pair<std::size_t, Fault>> marks;
  std::vector<ChaosBatch::Piece> pieces;

  std::size_t count(Fault fault) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(marks, [&](const auto& mark) { return mark.second == fault; }));
  }
};

void add(Shaped& shaped, const ChaosBatch& batch) {
  const std::size_t before = shaped.bytes.size();
  for (const auto& mark : batch.marks) shaped.marks.emplace_back(before + mark.at, mark.fault);
  for (const auto& piece : batch.pieces) {
    shaped.pieces.push_back({before + piece.end, piece.due});
  }
  shaped.bytes.insert(shaped.bytes.end(), batch.bytes.begin(), batch.bytes.end());
}

// The stream in reads of `read_bytes` each, all of them at once.
Shaped shape(ChaosPlan plan, std::span<const std::byte> input, std::size_t read_bytes) {
  Shaped shaped;
  while (!input.empty() && !plan.ended()) {
    const auto read = input.first(std::min(read_bytes, input.size()));
    add(shaped, plan.take(read, kOpened));
    input = input.subspan(read.size());
  }
  return shaped;
}

ChaosPlan plan_of(const ChaosOptions& options, std::uint64_t connection = 1,
                  Direction direction = Direction::kUp) {
  return ChaosPlan(options, connection, direction, kOpened);
}

std::size_t bits_changed(const Bytes& a, const Bytes& b) {
  std::size_t bits = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    bits += static_cast<std::size_t>(std::popcount(std::to_integer<unsigned>(a[i] ^ b[i])));
  }
  return bits;
}

}  // namespace

TEST(ChaosPlan, WithNoFaultsLetsEverythingPassAtOnce) {
  const Bytes input = counting(5000);

  const Shaped shaped = shape(plan_of({}), input, 700);

  EXPECT_EQ(shaped.bytes, input);
  EXPECT_TRUE(shaped.marks.empty());
  for (const auto& piece : shaped.pieces) EXPECT_EQ(piece.due, kOpened);
}

RC_GTEST_PROP(ChaosPlan, HarmsAStreamTheSameWayHoweverItIsCutIntoReads, ()) {
  ChaosOptions options;
  options.seed = *rc::gen::arbitrary<std::uint64_t>();
  options.flip_every_bytes = *rc::gen::inRange(0, 200);
  options.duplicate_every_bytes = *rc::gen::inRange(0, 200);
  options.truncate_every_bytes = *rc::gen::element(0, 3000);
  options.half_close_every_bytes = *rc::gen::element(0, 3000);
  options.reset_every_bytes = *rc::gen::element(0, 3000);
  const Bytes input = counting(2000);

  const Shaped whole = shape(plan_of(options), input, input.size());
  const Shaped cut = shape(plan_of(options), input, *rc::gen::inRange<std::size_t>(1, 400));

  RC_ASSERT(cut.bytes == whole.bytes);
  RC_ASSERT(cut.marks == whole.marks);
}

TEST(ChaosPlan, FlipsOneBitPerFlip) {
  const Bytes input = counting(100'000);

  const Shaped shaped = shape(plan_of({.seed = 3, .flip_every_bytes = 500}), input, 4096);

  ASSERT_EQ(shaped.bytes.size(), input.size());
  EXPECT_EQ(bits_changed(shaped.bytes, input), shaped.count(Fault::kFlip));
  EXPECT_NEAR(static_cast<double>(shaped.count(Fault::kFlip)), 200, 60);
}

TEST(ChaosPlan, RepeatsWhatJustPassed) {
  const Bytes input = counting(10'000);

  const Shaped shaped = shape(plan_of({.seed = 5, .duplicate_every_bytes = 3000}), input, 1000);

  ASSERT_GT(shaped.count(Fault::kDuplicate), 0u);
  ASSERT_GT(shaped.bytes.size(), input.size());
  const std::size_t end = shaped.marks.front().first;  // behind the first repeated run
  const auto parts = std::mismatch(shaped.bytes.begin(), shaped.bytes.end(), input.begin());
  const auto first_different = static_cast<std::size_t>(parts.first - shaped.bytes.begin());
  const std::size_t run = end - first_different;
  EXPECT_LE(run, kRepeatedBytesMax);
  EXPECT_TRUE(std::equal(shaped.bytes.begin() + static_cast<std::ptrdiff_t>(first_different),
                         shaped.bytes.begin() + static_cast<std::ptrdiff_t>(end),
                         input.begin() + static_cast<std::ptrdiff_t>(first_different - run)));
}

TEST(ChaosPlan, EndsAStreamOnceAtADrawnOffset) {
  ChaosOptions cuts;
  cuts.truncate_every_bytes = 1000;
  ChaosOptions resets;
  resets.reset_every_bytes = 1000;
  const Bytes input = counting(50'000);

  const Shaped cut = shape(plan_of(cuts), input, 333);
  const Shaped reset = shape(plan_of(resets), input, 333);

  ASSERT_EQ(cut.marks.size(), 1u);
  EXPECT_EQ(cut.marks[0], std::pair(cut.bytes.size(), Fault::kTruncate));
  EXPECT_LT(cut.bytes.size(), input.size());
  ASSERT_EQ(reset.marks.size(), 1u);
  EXPECT_EQ(reset.marks[0].second, Fault::kReset);
}

TEST(ChaosPlan, SpreadsTheEndsOfConnectionsAroundTheirMean) {
  const ChaosOptions options{.seed = 11, .reset_every_bytes = 1000};
  const Bytes input = counting(20'000);

  double sum = 0;
  for (std::uint64_t connection = 0; connection < 400; ++connection) {
    sum += static_cast<double>(shape(plan_of(options, connection), input, 4096).bytes.size());
  }

  EXPECT_NEAR(sum / 400, 1000, 200);
}

TEST(ChaosPlan, DrawsOtherFaultsForOtherSeedsConnectionsAndDirections) {
  const ChaosOptions options{.seed = 1, .flip_every_bytes = 300};
  const Bytes input = counting(3000);
  const auto bytes = [&](const ChaosPlan& plan) { return shape(plan, input, 512).bytes; };

  const Bytes first = bytes(plan_of(options, 1, Direction::kUp));

  EXPECT_EQ(bytes(plan_of(options, 1, Direction::kUp)), first);
  EXPECT_NE(bytes(plan_of(options, 2, Direction::kUp)), first);
  EXPECT_NE(bytes(plan_of(options, 1, Direction::kDown)), first);
  EXPECT_NE(bytes(plan_of({.seed = 2, .flip_every_bytes = 300}, 1, Direction::kUp)), first);
}

TEST(ChaosPlan, CutsWritesIntoSingleBytes) {
  const Shaped shaped = shape(plan_of({.chunk_bytes = 1}), counting(300), 128);

  ASSERT_EQ(shaped.pieces.size(), 300u);
  for (std::size_t i = 0; i < 300; ++i) EXPECT_EQ(shaped.pieces[i].end, i + 1);
}

TEST(ChaosPlan, DelaysWithinTheJitterAndKeepsTheOrder) {
  ChaosPlan plan = plan_of({.delay = 50ms, .jitter = 20ms});
  Time last{};
  Duration least = 1h;
  Duration most{};

  for (Time now = kOpened; now < kOpened + 10s; now += 100ms) {
    const Time due = plan.take(counting(10), now).pieces.at(0).due;
    EXPECT_GE(due, last);
    last = due;
    least = std::min(least, due - now);
    most = std::max(most, due - now);
  }

  EXPECT_GE(least, 50ms);
  EXPECT_LT(least, 55ms);
  EXPECT_LE(most, 70ms);
  EXPECT_GT(most, 65ms);
}

TEST(ChaosPlan, KeepsARate) {
  const Shaped shaped = shape(plan_of({.rate_bytes = 10'000}), counting(50'000), 4096);

  EXPECT_NEAR(seconds(shaped.pieces.back().due - kOpened), 5.0, 0.05);
  for (const auto& piece : shaped.pieces) {
    const double sent = static_cast<double>(piece.end);
    EXPECT_LE(sent, 10'000 * seconds(piece.due - kOpened) + 200 + 1);
  }
}

TEST(ChaosPlan, LetsNothingPassDuringAStallAndCountsIt) {
  const ChaosOptions options{.seed = 9, .stall_every = 1s, .stall_span = 300ms};
  ChaosPlan plan = plan_of(options);
  std::size_t stalls = 0;
  Time last = kOpened;
  Duration longest{};

  for (Time now = kOpened; now < kOpened + 60s; now += 10ms) {
    const ChaosBatch batch = plan.take(counting(1), now);
    stalls += batch.marks.size();
    for (const auto& mark : batch.marks) EXPECT_EQ(mark.fault, Fault::kStall);
    longest = std::max(longest, batch.pieces.at(0).due - last);
    last = batch.pieces.at(0).due;
  }

  EXPECT_NEAR(static_cast<double>(stalls), 60 / 1.3, 20);
  EXPECT_GE(longest, 295ms);
}

TEST(ChaosPlan, DoesNotCountTheStallsOfAnIdleStream) {
  ChaosPlan plan = plan_of({.seed = 9, .stall_every = 100ms, .stall_span = 1ms});

  const ChaosBatch batch = plan.take(counting(1), kOpened + 100s);

  EXPECT_LE(batch.marks.size(), 1u);
  EXPECT_LE(batch.pieces.at(0).due, kOpened + 100s + 1ms);
}

}  // namespace wide::net
