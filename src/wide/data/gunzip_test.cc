#include "wide/data/gunzip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "wide/data/scratch_folder.h"

namespace wide::data {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string gzip_text(const std::string& text) {
  const ScratchFolder folder;
  write_gzip(folder / "a.gz", text);
  return read_whole(folder / "a.gz");
}

Result<std::string> unpack(const std::string& packed, std::uint64_t bytes_max = 1 << 20) {
  std::string text;
  const auto sink = [&](std::span<const std::byte> piece) -> Result<void> {
    text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    return {};
  };
  const auto count = gunzip(std::as_bytes(std::span(packed)), "a.gz", bytes_max, sink);
  if (!count) return tl::unexpected(count.error());
  EXPECT_EQ(*count, text.size());
  return text;
}

void expect_refused(const Result<std::string>& unpacked, const std::string& why) {
  ASSERT_FALSE(unpacked);
  EXPECT_EQ(unpacked.error().code, Errc::kSamplesCorrupt);
  EXPECT_THAT(unpacked.error().detail, AllOf(HasSubstr("a.gz"), HasSubstr(why)));
}

RC_GTEST_PROP(Gunzip, GivesBackWhatGzipPacked, (const std::string& text)) {
  RC_ASSERT(unpack(gzip_text(text)).value() == text);
}

TEST(Gunzip, UnpacksInMoreThanOnePiece) {
  const std::string text(700'000, 'x');

  EXPECT_EQ(unpack(gzip_text(text)).value(), text);
}

TEST(Gunzip, UnpacksMembersInARow) {
  EXPECT_EQ(unpack(gzip_text("one ") + gzip_text("") + gzip_text("two")).value(), "one two");
}

TEST(Gunzip, RefusesEveryTruncation) {
  const auto packed = gzip_text("some text, not very long");

  for (std::size_t size = 0; size < packed.size(); ++size) {
    expect_refused(unpack(packed.substr(0, size)), "truncated");
  }
}

// Some bits of the last byte mean nothing to deflate; all others are covered by the checksum.
TEST(Gunzip, NeverGivesOtherTextForADamagedByte) {
  const std::string text = "some text, not very long, some text";
  const auto packed = gzip_text(text);
  int refused_count = 0;

  for (std::size_t at = 10; at < packed.size(); ++at) {
    auto damaged = packed;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    const auto unpacked = unpack(damaged);
    EXPECT_EQ(unpacked.value_or(text), text) << "byte " << at;
    refused_count += unpacked ? 0 : 1;
  }
  EXPECT_GE(refused_count, static_cast<int>(packed.size()) - 11);
}

TEST(Gunzip, RefusesWhatIsNotGzip) {
  expect_refused(unpack("plain text"), "damaged gzip data");
  expect_refused(unpack(gzip_text("text") + "and more"), "after the end");
}

TEST(Gunzip, RefusesToUnpackBeyondTheLimit) {
  const auto packed = gzip_text(std::string(1'000'000, '\0'));  // about a kilobyte

  expect_refused(unpack(packed, 999'999), "more than the 999999 bytes");
  EXPECT_TRUE(unpack(packed, 1'000'000));
}

TEST(Gunzip, PassesOnTheSinksError) {
  const auto packed = gzip_text("text");
  const auto sink = [](std::span<const std::byte>) -> Result<void> {
    return fail(Errc::kCannotWrite, "disk full");
  };

  const auto count = gunzip(std::as_bytes(std::span(packed)), "a.gz", 100, sink);

  ASSERT_FALSE(count);
  EXPECT_EQ(count.error().code, Errc::kCannotWrite);
}

TEST(GunzipFile, WritesTheWholeFileOrNothing) {
  const ScratchFolder folder;
  write_gzip(folder / "good.gz", "text");
  write_text(folder / "bad.gz", gzip_text("text").substr(0, 15));

  EXPECT_TRUE(gunzip_file(folder / "good.gz", folder / "out/good"));
  EXPECT_FALSE(gunzip_file(folder / "bad.gz", folder / "out2/bad"));

  EXPECT_EQ(read_whole(folder / "out/good"), "text");
  EXPECT_TRUE(std::filesystem::is_empty(folder / "out2"));
}

TEST(GunzipFile, LeavesAnOlderFileUntouchedWhenRefused) {
  const ScratchFolder folder;
  write_text(folder / "bad.gz", "nonsense");
  write_text(folder / "out", "older");

  EXPECT_FALSE(gunzip_file(folder / "bad.gz", folder / "out"));

  EXPECT_EQ(read_whole(folder / "out"), "older");
}

TEST(GunzipFile, SaysWhenTheTargetCannotBeWritten) {
  const ScratchFolder folder;
  write_gzip(folder / "good.gz", "text");
  write_text(folder / "file", "in the way");

  const auto done = gunzip_file(folder / "good.gz", folder / "file/out");

  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Errc::kCannotWrite);
  EXPECT_THAT(done.error().detail, HasSubstr("file/out"));
}

}  // namespace
}  // namespace wide::data
