// A corpus larger than memory: a sparse file of 64 GiB with a little in it.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>

#include "wide/data/library.h"
#include "wide/data/loaded_sample.h"
#include "wide/data/recipe.h"
#include "wide/data/scratch_folder.h"

namespace wide::data {
namespace {

constexpr std::uint64_t kFileBytes = std::uint64_t{64} << 30;
constexpr std::uint32_t kContext = 1024;

// What of this process lies in memory: its own pages, and pages of files that it has touched.
std::uint64_t resident_bytes() {
  std::ifstream status("/proc/self/status");
  std::uint64_t bytes = 0;
  for (std::string word; status >> word;) {
    std::uint64_t kilobytes = 0;
    if ((word == "RssAnon:" || word == "RssFile:") && status >> kilobytes) bytes += kilobytes << 10;
  }
  return bytes;
}

class LargeText : public ::testing::Test {
 protected:
  LargeText() : path_(folder_ / "large.txt") {
    const int file = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    WIDE_CHECK(file >= 0 && ::ftruncate(file, static_cast<off_t>(kFileBytes)) == 0,
               "the file system of the temporary folder must hold sparse files of 64 GiB");
    for (const auto at : {std::uint64_t{0}, kFileBytes / 2, kFileBytes - kContext - 1}) {
      const std::string text = "here is " + std::to_string(at);
      WIDE_CHECK(::pwrite(file, text.data(), text.size(), static_cast<off_t>(at)) ==
                 static_cast<ssize_t>(text.size()));
    }
    struct stat status = {};
    WIDE_CHECK(::fstat(file, &status) == 0 && status.st_blocks < 1 << 20, "the file is not sparse");
    ::close(file);
    recipe_.format = Format::kText;
    recipe_.path = path_;
    recipe_.context = kContext;
  }
  std::string begin_of(const Dataset& set, std::uint64_t index) const {
    const auto sample = train_sample(set, index);
    std::string text;
    for (std::size_t i = 0; i < 24 && sample.tokens[i] != 0; ++i) {
      text += static_cast<char>(sample.tokens[i]);
    }
    return text;
  }

  ScratchFolder folder_;
  std::filesystem::path path_;
  Recipe recipe_;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST_F(LargeText, OpensAtOnceAndReadsRightEverywhere) {
  const auto start = std::chrono::steady_clock::now();
  const auto opened = open_files(recipe_, folder_ / "cache");
  const auto seconds = seconds_since(start);
  ASSERT_TRUE(opened) << opened.error().detail;
  const auto& set = **opened;
  const auto last = set.space().train_count - 1;

  EXPECT_LT(seconds, 2);
  EXPECT_EQ(set.space().train_count, (kFileBytes - 1) / kContext);
  EXPECT_EQ(begin_of(set, 0), "here is 0");
  EXPECT_EQ(begin_of(set, 1), "");
  EXPECT_EQ(begin_of(set, kFileBytes / 2 / kContext), "here is " + std::to_string(kFileBytes / 2));
  EXPECT_EQ(train_sample(set, last).tokens[0], 0);
  EXPECT_EQ(train_sample(set, last).tokens[kContext - 1], 'h');  // the text begins one before it

  // A chunk in a hole has the digest of zeros, one with a text in it another.
  const auto& library = *set.library();
  for (const std::uint64_t chunk : {std::uint64_t{0}, std::uint64_t{1}, set.space().chunk_count / 2,
                                    set.space().chunk_count - 1}) {
    EXPECT_EQ(sha256(library.chunk(chunk)), library.manifest().chunks[chunk]) << chunk;
  }
}

// Half a gigabyte may stay: what is mapped is given back after a quarter, and what the manifest and
// the rest of the test take is far less than another.
TEST_F(LargeText, MemoryStaysFlatWhileItIsRead) {
  constexpr std::uint64_t kResidentBytesMax = 512u << 20;
  const auto before = resident_bytes();
  ASSERT_GT(before, 0u);
  const auto set = open_files(recipe_, folder_ / "cache").value();
  const auto stride = set->space().train_count / 20'000;
  LoadedSample sample(set->space());
  std::uint64_t peak = 0, touched = 0;

  // 20,000 places, first scattered, then in order: each touches pages that no other does.
  for (std::uint64_t i = 0; i < 40'000; ++i) {
    const auto place = i < 20'000 ? i * 7919 % 20'000 : i - 20'000;
    set->load_train(place * stride, sample.room());
    ++touched;
    if (i % 500 == 0) peak = std::max(peak, resident_bytes());
  }
  for (std::uint64_t chunk = 0; chunk < 1500; ++chunk) {  // more than a gigabyte, as it is lent out
    const auto bytes = set->library()->chunk(chunk * 40);
    for (std::size_t at = 0; at < bytes.size(); at += 4096) {
      touched += std::to_integer<unsigned>(bytes[at]);
    }
    if (chunk % 50 == 0) peak = std::max(peak, resident_bytes());
  }

  EXPECT_GE(touched, 40'000u);
  EXPECT_LT(peak, before + kResidentBytesMax);
}

}  // namespace
}  // namespace wide::data
