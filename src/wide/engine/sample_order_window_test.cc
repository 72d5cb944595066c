#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "wide/base/digest.h"
#include "wide/engine/sample_order.h"

namespace wide::engine {
namespace {

using Samples = std::vector<std::uint64_t>;

Samples epoch_of(const SampleOrder& order, std::uint64_t count, std::uint64_t epoch) {
  Samples samples(count);
  for (std::uint64_t i = 0; i < count; ++i) samples[i] = order.sample_at(epoch * count + i);
  return samples;
}

bool is_permutation_of_all(Samples samples) {
  std::sort(samples.begin(), samples.end());
  for (std::uint64_t i = 0; i < samples.size(); ++i) {
    if (samples[i] != i) return false;
  }
  return true;
}

// The full chunks that samples[begin … end) come from.
std::set<std::uint64_t> chunks_of(const Samples& samples, std::uint64_t begin, std::uint64_t end,
                                  std::uint64_t chunk_samples) {
  const auto full = samples.size() / chunk_samples;
  std::set<std::uint64_t> chunks;
  for (auto i = begin; i < std::min<std::uint64_t>(end, samples.size()); ++i) {
    if (samples[i] / chunk_samples < full) chunks.insert(samples[i] / chunk_samples);
  }
  return chunks;
}

struct Case {
  std::uint64_t seed, count, epoch;
  ShuffleWindow window;

  Samples samples() const { return epoch_of(SampleOrder(seed, count, window), count, epoch); }
};

Case any_case() {
  Case any;
  any.seed = *rc::gen::arbitrary<std::uint64_t>();
  any.count = *rc::gen::inRange<std::uint64_t>(1, 3000);
  any.epoch = *rc::gen::inRange<std::uint64_t>(0, 1'000'000);
  any.window.chunk_samples = *rc::gen::inRange<std::uint64_t>(0, 200);
  any.window.window_chunks = *rc::gen::inRange<std::uint64_t>(0, 30);
  return any;
}

RC_GTEST_PROP(ShuffleWindow, UsesEachSampleOncePerEpoch, ()) {
  RC_ASSERT(is_permutation_of_all(any_case().samples()));
}

// A window's worth of positions: the samples of so many chunks, all of them, and no others.
RC_GTEST_PROP(ShuffleWindow, WalksItsOwnChunksOnly, ()) {
  auto any = any_case();
  any.window.chunk_samples += 1;
  any.window.window_chunks += 1;
  const auto full = any.count / any.window.chunk_samples;
  RC_PRE(full > any.window.window_chunks);
  const auto samples = any.samples();
  const auto stride = any.window.chunk_samples * any.window.window_chunks;

  std::set<std::uint64_t> seen;
  const auto windows = (full + any.window.window_chunks - 1) / any.window.window_chunks;
  for (std::uint64_t window = 0; window < windows; ++window) {
    const auto end = window + 1 == windows ? any.count : (window + 1) * stride;
    const auto chunks = chunks_of(samples, window * stride, end, any.window.chunk_samples);
    RC_ASSERT(chunks.size() <= any.window.window_chunks);
    for (const auto chunk : chunks) RC_ASSERT(seen.insert(chunk).second);
  }
  RC_ASSERT(seen.size() == full);
}

// The tail, three samples of no full chunk, comes within the last window: 2 chunks of 10 and it.
TEST(ShuffleWindow, LeavesTheTailToTheLastWindow) {
  for (std::uint64_t epoch = 0; epoch < 50; ++epoch) {
    const auto samples = epoch_of(SampleOrder(3, 83, {10, 3}), 83, epoch);
    for (std::uint64_t tail = 80; tail < 83; ++tail) {
      const auto found = std::find(samples.begin(), samples.end(), tail);
      EXPECT_GE(found - samples.begin(), 60);
    }
  }
}

TEST(ShuffleWindow, OfEverythingIsNone) {
  const auto plain = epoch_of(SampleOrder(9, 1003), 1003, 4);

  EXPECT_EQ(epoch_of(SampleOrder(9, 1003, {100, 10}), 1003, 4), plain);
  EXPECT_EQ(epoch_of(SampleOrder(9, 1003, {100, ~0ull}), 1003, 4), plain);
  EXPECT_EQ(epoch_of(SampleOrder(9, 1003, {2000, 1}), 1003, 4), plain);
  EXPECT_EQ(epoch_of(SampleOrder(9, 1003, {100, 0}), 1003, 4), plain);
  EXPECT_EQ(epoch_of(SampleOrder(9, 1003, {0, 4}), 1003, 4), plain);
  EXPECT_NE(epoch_of(SampleOrder(9, 1003, {100, 9}), 1003, 4), plain);
}

TEST(ShuffleWindow, IsTheOrderOfOtherMachines) {
  const SampleOrder order(42, 23, {4, 2});

  EXPECT_EQ(epoch_of(order, 23, 0), (Samples{19, 16, 11, 17, 10, 8, 9,  18, 2,  12, 13, 1,
                                             3,  15, 14, 0,  4,  7, 20, 21, 22, 6,  5}));
  EXPECT_EQ(epoch_of(order, 23, 3), (Samples{9, 11, 18, 10, 8,  16, 17, 19, 6,  5,  2, 3,
                                             7, 0,  1,  4,  22, 12, 20, 13, 14, 15, 21}));
  const auto digest = [](const Samples& samples) {
    return sha256(std::as_bytes(std::span(samples))).hex();
  };
  EXPECT_EQ(digest(epoch_of(SampleOrder(7, 10007, {64, 10}), 10007, 5)),
            "5d7ffbfac7001459196e4a757dc8817199624c0f969b61b4e3a614b0a58c0db8");
  EXPECT_EQ(digest(epoch_of(SampleOrder(~0ull, 5003, {1, 7}), 5003, 9)),
            "f388f5bb4c1b62dcadf22df2d744ae35f020cb49606ea2738a1fa6f9d5d91994");
}

// Of 100 chunks, 10 fall into the first window; two epochs share one of them on average. Over 400
// pairs the mean is 1 with a standard error of 0.04.
TEST(ShuffleWindow, ChoosesItsChunksAnewEveryEpoch) {
  constexpr std::uint64_t kCount = 100 * 8;
  const SampleOrder order(11, kCount, {8, 10});
  double shared = 0;
  auto before = chunks_of(epoch_of(order, kCount, 0), 0, 80, 8);
  for (std::uint64_t epoch = 1; epoch <= 400; ++epoch) {
    const auto here = chunks_of(epoch_of(order, kCount, epoch), 0, 80, 8);
    for (const auto chunk : here) shared += static_cast<double>(before.count(chunk));
    before = here;
  }

  EXPECT_NEAR(shared / 400, 1.0, 0.25);
}

// Neighbouring positions are no nearer than chance within their window: of two samples out of 16
// chunks, one pair in 16 lies in one chunk.
TEST(ShuffleWindow, MixesItsChunks) {
  constexpr std::uint64_t kCount = 64 * 100;
  const auto samples = epoch_of(SampleOrder(5, kCount, {100, 16}), kCount, 0);
  int together = 0;
  for (std::uint64_t i = 0; i + 1 < kCount; ++i) {
    together += samples[i] / 100 == samples[i + 1] / 100;
  }

  EXPECT_NEAR(together / static_cast<double>(kCount), 1.0 / 16, 0.015);
}

// Nothing is kept per sample or chunk: a set of 2^62 samples costs what one of ten does.
TEST(ShuffleWindow, NeedsConstantMemory) {
  constexpr auto kCount = std::uint64_t{1} << 62;
  const SampleOrder order(1, kCount, {1 << 12, 256});

  EXPECT_LE(sizeof(SampleOrder), 64u);
  std::set<std::uint64_t> chunks;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    const auto sample = order.sample_at(kCount - 5000 + i);
    EXPECT_LT(sample, kCount);
    chunks.insert(sample >> 12);
  }
  EXPECT_LE(chunks.size(), 256u);
}

SampleSpace space_of(std::uint64_t count, std::uint64_t per_chunk) {
  SampleSpace space;
  space.train_count = count;
  space.samples_per_chunk = per_chunk;
  return space;
}

TEST(WindowOf, ComesWithTheSizeOfTheSet) {
  Job job;

  EXPECT_EQ(window_of(job, space_of(1000, 0)).window_chunks, 0u);
  EXPECT_EQ(window_of(job, space_of(1024 * 50, 50)).window_chunks, 0u);
  EXPECT_EQ(window_of(job, space_of(1024 * 50 + 1, 50)).window_chunks, 256u);
  EXPECT_EQ(window_of(job, space_of(1024 * 50 + 1, 50)).chunk_samples, 50u);
}

TEST(WindowOf, IsTheJobsOwnWhereItNamesOne) {
  Job job;
  job.samples.window_chunks = 7;

  EXPECT_EQ(window_of(job, space_of(1000, 10)).window_chunks, 7u);
  EXPECT_EQ(window_of(job, space_of(1000, 10)).chunk_samples, 10u);
  EXPECT_EQ(window_of(job, space_of(1000, 0)).window_chunks, 0u);

  const SampleOrder of_job(job, space_of(1000, 10));
  EXPECT_EQ(epoch_of(of_job, 1000, 2), epoch_of(SampleOrder(job.seed, 1000, {10, 7}), 1000, 2));
}

}  // namespace
}  // namespace wide::engine
