#include "wide/data/chunk_shelf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <thread>

#include "wide/data/scratch_folder.h"

namespace wide::data {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kChunkCount = 12;
constexpr std::uint64_t kBytes = 4096;

std::string content(std::uint64_t chunk) {
  return std::string(kBytes, static_cast<char>('a' + chunk));
}

// Rows of 4096 bytes, each a chunk of its own, and their labels, which are the last chunk.
std::shared_ptr<const Manifest> make_manifest() {
  Manifest manifest;
  manifest.space.sample_shape = {kBytes};
  manifest.space.class_count = 10;
  manifest.space.train_count = kChunkCount - 1;
  manifest.parts[kTrainSamples] = {.type = ElementType::kU8,
                                   .count = kChunkCount - 1,
                                   .record_elements = kBytes,
                                   .stride_elements = kBytes,
                                   .records_per_chunk = 1,
                                   .first_chunk = 0};
  manifest.parts[kTrainTargets] =
      make_part(ElementType::kU8, kChunkCount - 1, 1, 1, kChunkCount - 1).value();
  WIDE_CHECK(settle_manifest(manifest).has_value());
  for (std::uint64_t i = 0; i + 1 < kChunkCount; ++i) manifest.chunks.push_back(sha256(content(i)));
  manifest.chunks.push_back(sha256(std::string(kChunkCount - 1, '\1')));
  return std::make_shared<const Manifest>(std::move(manifest));
}

class Shelf : public ::testing::Test {
 protected:
  std::unique_ptr<ChunkShelf> make_shelf(std::filesystem::path folder,
                                         ChunkShelf::Options options = {}) const {
    auto cache = std::make_shared<ChunkCache>(std::move(folder), 1 << 20);
    return std::make_unique<ChunkShelf>(manifest_, std::move(cache), options);
  }
  Result<void> put(ChunkShelf& shelf, std::uint64_t chunk) const {
    const auto text = content(chunk);
    auto buffer = std::make_shared<Buffer>(text.size());
    std::memcpy(buffer->begin(), text.data(), text.size());
    const std::span<const std::byte> bytes = buffer->first(text.size());
    return shelf.put(chunk, std::move(buffer), bytes);
  }
  bool reads(const ChunkShelf& shelf, std::uint64_t chunk) const {
    return sha256(shelf.bytes(chunk)) == manifest_->chunks[chunk];
  }
  ChunkShelf::Hold hold(ChunkShelf& shelf, std::vector<std::uint64_t> chunks) const {
    return shelf.hold(chunks);
  }

  ScratchFolder folder_;
  std::shared_ptr<const Manifest> manifest_ = make_manifest();
};

TEST_F(Shelf, HoldsWhatWasPut) {
  const auto shelf = make_shelf(folder_.path());
  EXPECT_FALSE(shelf->at_hand(3));
  EXPECT_EQ(hold(*shelf, {3}), nullptr);

  ASSERT_TRUE(put(*shelf, 3));

  EXPECT_TRUE(shelf->at_hand(3));
  EXPECT_EQ(hold(*shelf, {3, 4}), nullptr);
  const auto held = hold(*shelf, {3, 3});
  ASSERT_NE(held, nullptr);
  EXPECT_TRUE(reads(*shelf, 3));
}

TEST_F(Shelf, TakesFromTheCacheWhatAnotherPut) {
  ASSERT_TRUE(put(*make_shelf(folder_.path()), 5));

  const auto shelf = make_shelf(folder_.path());

  EXPECT_EQ(hold(*shelf, {5}), nullptr);  // not before it was taken
  EXPECT_TRUE(shelf->at_hand(5));
  const auto held = hold(*shelf, {5});
  EXPECT_TRUE(reads(*shelf, 5));
}

TEST_F(Shelf, RefusesWhatTheManifestDoesNotName) {
  const auto shelf = make_shelf(folder_.path());
  const auto wrong = content(2);
  const auto bytes = std::as_bytes(std::span(wrong));

  EXPECT_EQ(shelf->put(3, nullptr, bytes).error().code, Errc::kSamplesDiffer);
  EXPECT_EQ(shelf->put(2, nullptr, bytes.first(100)).error().code, Errc::kSamplesDiffer);
  EXPECT_EQ(shelf->put(99, nullptr, bytes).error().code, Errc::kSamplesDiffer);

  EXPECT_FALSE(shelf->at_hand(2));
  EXPECT_FALSE(shelf->at_hand(3));
}

TEST_F(Shelf, KeepsInMemoryWhatTheCacheCannotAndSaysSoOnce) {
  write_text(folder_ / "file", "in the way");
  const auto shelf = make_shelf(folder_ / "file");

  testing::internal::CaptureStderr();
  ASSERT_TRUE(put(*shelf, 0));
  ASSERT_TRUE(put(*shelf, 1));
  const auto said = testing::internal::GetCapturedStderr();

  EXPECT_THAT(said, HasSubstr("cannot be cached, so they stay in memory"));
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1);
  const auto held = hold(*shelf, {0, 1});
  EXPECT_TRUE(reads(*shelf, 0));
  EXPECT_TRUE(reads(*shelf, 1));
}

TEST_F(Shelf, PutsAwayWhatNobodyHoldsOldestFirst) {
  const auto shelf = make_shelf({}, {.mapped_count_max = 4, .memory_bytes_max = 3 * kBytes});
  for (const std::uint64_t chunk : {0, 1, 2}) ASSERT_TRUE(put(*shelf, chunk));
  const auto held = hold(*shelf, {0});
  hold(*shelf, {1});  // and let go of

  ASSERT_TRUE(put(*shelf, 3));

  EXPECT_FALSE(shelf->at_hand(2));  // nobody ever held it
  for (const std::uint64_t chunk : {0, 1, 3}) EXPECT_TRUE(shelf->at_hand(chunk));
}

TEST_F(Shelf, NeverPutsAwayWhatSomebodyHolds) {
  const auto shelf = make_shelf({}, {.mapped_count_max = 1, .memory_bytes_max = 1});
  std::vector<ChunkShelf::Hold> holds;
  for (std::uint64_t chunk = 0; chunk < 8; ++chunk) {
    ASSERT_TRUE(put(*shelf, chunk));
    holds.push_back(hold(*shelf, {chunk}));
    ASSERT_NE(holds.back(), nullptr);
  }
  for (std::uint64_t chunk = 0; chunk < 8; ++chunk) EXPECT_TRUE(reads(*shelf, chunk));

  holds.clear();
  ASSERT_TRUE(put(*shelf, 9));

  for (std::uint64_t chunk = 0; chunk < 8; ++chunk) EXPECT_FALSE(shelf->at_hand(chunk));
  EXPECT_TRUE(shelf->at_hand(9));  // the newest stays for whoever asked for it
}

TEST_F(Shelf, PutsAwayMapsAndTakesThemFromTheCacheAgain) {
  const auto shelf = make_shelf(folder_.path(), {.mapped_count_max = 2, .memory_bytes_max = 1});
  for (std::uint64_t chunk = 0; chunk < 6; ++chunk) ASSERT_TRUE(put(*shelf, chunk));

  EXPECT_EQ(hold(*shelf, {0}), nullptr);
  EXPECT_TRUE(shelf->at_hand(0));
  const auto held = hold(*shelf, {0});
  EXPECT_TRUE(reads(*shelf, 0));
}

TEST_F(Shelf, AbortsWhereAChunkIsReadThatIsNotHeld) {
  const auto shelf = make_shelf({});

  EXPECT_DEATH((void)shelf->bytes(0), "without holding");
}

// Readers hold, read and let go while others put and a shelf of three puts away: what is held
// always reads right.
TEST_F(Shelf, ServesManyThreads) {
  const auto shelf = make_shelf(folder_.path(), {.mapped_count_max = 3, .memory_bytes_max = 1});
  std::vector<std::thread> threads;
  std::array<int, 4> read_count = {};
  for (std::size_t t = 0; t < read_count.size(); ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < 300; ++i) {
        const auto chunk = (i * 5 + t) % (kChunkCount - 1);
        if (!shelf->at_hand(chunk) && !put(*shelf, chunk)) return;
        const auto held = hold(*shelf, {chunk});
        if (held && !reads(*shelf, chunk)) return;
        read_count[t] += held ? 1 : 0;
      }
      ++read_count[t];
    });
  }
  for (auto& thread : threads) thread.join();

  for (const int count : read_count) EXPECT_GT(count, 30);
}

}  // namespace
}  // namespace wide::data
