#include "wide/data/chunk_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "wide/data/scratch_folder.h"

namespace wide::data {
namespace {

using ::testing::HasSubstr;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

// A thousand bytes that no other letter has.
std::string chunk(char letter) { return std::string(1000, letter); }

class Chunks : public ::testing::Test {
 protected:
  bool keep(ChunkCache& cache, char letter) const {
    const auto text = chunk(letter);
    return cache.keep(sha256(text), bytes_of(text)).has_value();
  }
  bool has(ChunkCache& cache, char letter) const {
    const auto text = chunk(letter);
    const auto found = cache.find(sha256(text), text.size());
    return found && sha256(found->bytes()) == sha256(text);
  }
  std::filesystem::path file_of(char letter) const {
    const auto name = sha256(chunk(letter)).hex();
    return folder_ / "chunks" / name.substr(0, 2) / name;
  }
  // As if it had last been used so long ago.
  void age(char letter, int minutes) const {
    std::filesystem::last_write_time(
        file_of(letter),
        std::filesystem::file_time_type::clock::now() - std::chrono::minutes(minutes));
  }
  std::uint64_t kept_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ / "chunks")) {
      if (entry.is_regular_file()) bytes += entry.file_size();
    }
    return bytes;
  }
  std::filesystem::path place() const { return folder_ / "chunks"; }

  ScratchFolder folder_;
};

TEST_F(Chunks, AreFoundByTheirHashByEveryCacheOfTheFolder) {
  ChunkCache one(place(), 1 << 20), other(place(), 1 << 20);

  EXPECT_FALSE(has(one, 'a'));
  EXPECT_TRUE(keep(one, 'a'));

  EXPECT_TRUE(has(one, 'a'));
  EXPECT_TRUE(has(other, 'a'));
  EXPECT_FALSE(has(other, 'b'));
  EXPECT_EQ(read_whole(file_of('a')), chunk('a'));
}

TEST_F(Chunks, AreMappedWhenTheyAreKept) {
  ChunkCache cache(place(), 1 << 20);
  const auto text = chunk('a');

  const auto kept = cache.keep(sha256(text), bytes_of(text));

  ASSERT_TRUE(kept);
  EXPECT_EQ(sha256((*kept)->bytes()), sha256(text));
}

TEST_F(Chunks, ThatAreDamagedAreRemovedAndMayBeKeptAgain) {
  ChunkCache cache(place(), 1 << 20);
  for (const auto& damage : {chunk('b'), chunk('a').substr(1), chunk('a') + "a", std::string()}) {
    keep(cache, 'a');
    write_text(file_of('a'), damage);

    testing::internal::CaptureStderr();
    EXPECT_FALSE(has(cache, 'a'));

    EXPECT_THAT(testing::internal::GetCapturedStderr(),
                HasSubstr("chunk in the cache is damaged: " + file_of('a').string()));
    EXPECT_FALSE(std::filesystem::exists(file_of('a')));
    EXPECT_TRUE(keep(cache, 'a'));
    EXPECT_TRUE(has(cache, 'a'));
  }
}

TEST_F(Chunks, UsedLongestAgoMakeRoom) {
  ChunkCache cache(place(), 3000);
  for (const char letter : {'a', 'b', 'c'}) keep(cache, letter);
  age('a', 5);
  age('b', 9);
  age('c', 7);
  EXPECT_TRUE(has(cache, 'b'));  // now the one that was used last

  EXPECT_TRUE(keep(cache, 'd'));

  EXPECT_FALSE(has(cache, 'c'));
  for (const char letter : {'a', 'b', 'd'}) EXPECT_TRUE(has(cache, letter)) << letter;
}

TEST_F(Chunks, StayBelowTheLimitWhoeverWrites) {
  ChunkCache one(place(), 32'000), other(place(), 32'000);

  for (char letter = 0; letter < 100; ++letter) {
    EXPECT_TRUE(keep(letter % 2 == 0 ? one : other, letter));
    EXPECT_LE(kept_bytes(), 32'000u + 2 * 2000);  // a sixteenth each may not know of
  }
  EXPECT_GE(kept_bytes(), 25'000u);
}

TEST_F(Chunks, ThatAreRemovedStayReadableForWhoeverMapsThem) {
  ChunkCache cache(place(), 1000);
  const auto text = chunk('a');
  const auto map = cache.keep(sha256(text), bytes_of(text)).value();

  keep(cache, 'b');

  EXPECT_FALSE(has(cache, 'a'));
  EXPECT_EQ(sha256(map->bytes()), sha256(text));
}

TEST_F(Chunks, WhatAKilledProcessLeftAsideGoesToo) {
  ChunkCache cache(place(), 2000);
  const auto left = place() / "aa" / ".chunk.aside-1-1";
  write_text(left, chunk('x'));
  std::filesystem::last_write_time(
      left, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  keep(cache, 'a');
  keep(cache, 'b');

  EXPECT_FALSE(std::filesystem::exists(left));
  EXPECT_TRUE(has(cache, 'a'));
}

TEST_F(Chunks, AreNotKeptWhereTheyCannotBe) {
  write_text(folder_ / "file", "in the way");
  ChunkCache nowhere({}, 1 << 20), blocked(folder_ / "file", 1 << 20), tiny(place(), 999);
  for (auto* cache : {&nowhere, &blocked, &tiny}) {
    const auto text = chunk('a');
    const auto kept = cache->keep(sha256(text), bytes_of(text));
    ASSERT_FALSE(kept);
    EXPECT_EQ(kept.error().code, Errc::kCannotWrite);
    EXPECT_FALSE(has(*cache, 'a'));
  }
}

// A child whose files may have 600 bytes: the write fails half way, as on a full disk.
TEST_F(Chunks, HalfWrittenLeaveNothingBehind) {
  ChunkCache cache(place(), 1 << 20);
  keep(cache, 'a');

  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {600, 600};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(1);
    const auto text = chunk('b');
    const auto kept = cache.keep(sha256(text), bytes_of(text));
    ::_exit(!kept && kept.error().code == Errc::kCannotWrite && has(cache, 'a') ? 0 : 2);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);

  EXPECT_EQ(status, 0);
  EXPECT_EQ(kept_bytes(), 1000u);
}

TEST_F(Chunks, MayBeKeptAndFoundByManyThreadsAtOnce) {
  ChunkCache cache(place(), 8000);
  std::vector<std::thread> threads;
  std::array<bool, 4> good = {};
  for (std::size_t t = 0; t < good.size(); ++t) {
    threads.emplace_back([&, t] {
      good[t] = true;
      for (int i = 0; i < 200; ++i) {
        const auto text = chunk(static_cast<char>((i * 7 + static_cast<int>(t)) % 20));
        const auto found = cache.find(sha256(text), text.size());
        if (found) good[t] &= sha256(found->bytes()) == sha256(text);
        if (!found) (void)cache.keep(sha256(text), bytes_of(text));
      }
    });
  }
  for (auto& thread : threads) thread.join();

  for (const bool each : good) EXPECT_TRUE(each);
  EXPECT_LE(kept_bytes(), 8000u + 4 * 1000);
}

}  // namespace
}  // namespace wide::data
