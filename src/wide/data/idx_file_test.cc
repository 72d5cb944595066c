#include "wide/data/idx_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "wide/data/scratch_folder.h"

namespace wide::data {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<IdxFile> parse(const std::string& text) {
  return parse_idx(std::as_bytes(std::span(text)), "some.idx");
}

void expect_refused(const std::string& text, const std::string& why) {
  const auto idx = parse(text);
  ASSERT_FALSE(idx) << "should be refused: " << why;
  EXPECT_EQ(idx.error().code, Errc::kSamplesCorrupt);
  EXPECT_THAT(idx.error().detail, AllOf(HasSubstr("some.idx"), HasSubstr(why)));
}

TEST(ParseIdx, FindsExtentsAndValues) {
  const std::string text(
      "\0\0\x08\x02\0\0\0\x02\0\0\0\x03"
      "abcdef",
      18);

  const auto idx = parse(text);

  ASSERT_TRUE(idx);
  EXPECT_THAT(idx->extents, ElementsAre(2, 3));
  EXPECT_EQ(idx->values.size(), 6u);
  EXPECT_EQ(static_cast<char>(idx->values[0]), 'a');
}

TEST(ParseIdx, RefusesEveryTruncation) {
  const auto whole = idx_text({2, 2, 2}, "abcdefgh");

  for (std::size_t size = 0; size < whole.size(); ++size) {
    expect_refused(whole.substr(0, size), "truncated");
  }
  EXPECT_TRUE(parse(whole));
}

TEST(ParseIdx, RefusesBytesAfterTheLastValue) {
  expect_refused(idx_text({2, 2}, "abcde"), "1 bytes after the last of its 4 values");
  expect_refused(idx_text({0}, "a"), "after the last");
}

TEST(ParseIdx, RefusesExtentsWhoseProductOverflows) {
  // 2^16 four times is 2^64, which wraps to zero values.
  expect_refused(idx_text({1u << 16, 1u << 16, 1u << 16, 1u << 16}, ""), "truncated");
  expect_refused(idx_text({0xffffffff, 0xffffffff, 0xffffffff}, "abc"), "truncated");
}

TEST(ParseIdx, TakesAZeroExtentForNoValuesEvenBesideHugeOnes) {
  EXPECT_TRUE(parse(idx_text({0xffffffff, 0xffffffff, 0xffffffff, 0}, "")));
}

TEST(ParseIdx, RefusesOtherFilesTypesAndRanks) {
  expect_refused("PNG or something", "no idx file");
  expect_refused(std::string("\0\0\x0d\x01\0\0\0\x01"
                             "abcd",
                             12),
                 "only bytes");
  expect_refused(std::string("\0\0\x08\0", 4), "rank 0");
  expect_refused(idx_text(std::vector<std::uint32_t>(9, 1), "a"), "rank 9");
}

}  // namespace
}  // namespace wide::data
