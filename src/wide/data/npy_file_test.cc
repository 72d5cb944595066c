#include "wide/data/npy_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <string>

#include "wide/base/digest.h"
#include "wide/data/float16.h"
#include "wide/data/scratch_folder.h"

namespace wide::data {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<NpyFile> parse(const std::string& text) {
  return parse_npy(std::as_bytes(std::span(text)), "some.npy");
}

void expect_refused(const std::string& text, const std::string& why) {
  const auto npy = parse(text);
  ASSERT_FALSE(npy) << "should be refused: " << why;
  EXPECT_EQ(npy.error().code, Errc::kSamplesCorrupt);
  EXPECT_THAT(npy.error().detail, AllOf(HasSubstr("some.npy"), HasSubstr(why)));
}

std::string from_hex(const std::string& hex) {
  std::string text;
  for (std::size_t at = 0; at < hex.size(); at += 2) {
    text += static_cast<char>(std::stoi(hex.substr(at, 2), nullptr, 16));
  }
  return text;
}

std::string values_of(const NpyFile& npy) {
  return {reinterpret_cast<const char*>(npy.values.data()), npy.values.size()};
}

// Files below that are in hex were written by NumPy: scripts/golden_npy.py. Spaces are counted.
std::string padding(std::size_t count) {
  std::string hex;
  for (std::size_t i = 0; i < count; ++i) hex += "20";
  return hex;
}

TEST(ParseNpy, ReadsWhatNumPyWrites) {
  const auto bytes = from_hex(
      "934e554d5059010076007b276465736372273a20277c7531272c2027666f727472616e5f6f726465"
      "72273a2046616c73652c20277368617065273a2028322c2033292c207d" +
      padding(58) + "0a000102030405");
  const auto npy = parse(bytes);
  ASSERT_TRUE(npy) << npy.error().detail;
  EXPECT_EQ(npy->type, ElementType::kU8);
  EXPECT_THAT(npy->extents, ElementsAre(2, 3));
  EXPECT_EQ(values_of(*npy), std::string("\0\1\2\3\4\5", 6));

  const auto ints = from_hex(
      "934e554d5059010076007b276465736372273a20273c6934272c2027666f727472616e5f6f726465"
      "72273a2046616c73652c20277368617065273a2028322c292c207d" +
      padding(60) + "0affffffffffffff7f");
  const auto read_ints = parse(ints);
  ASSERT_TRUE(read_ints) << read_ints.error().detail;
  EXPECT_EQ(read_ints->type, ElementType::kI32);
  EXPECT_THAT(read_ints->extents, ElementsAre(2));
}

TEST(ParseNpy, ReadsLaterVersions) {
  const auto second = from_hex(
      "934e554d50590200740000007b276465736372273a20273c6938272c2027666f727472616e5f6f72"
      "646572273a2046616c73652c20277368617065273a2028322c2031292c207d" +
      padding(56) + "0afeffffffffffffff0000000000010000");
  const auto npy = parse(second);
  ASSERT_TRUE(npy) << npy.error().detail;
  EXPECT_EQ(npy->type, ElementType::kI64);
  EXPECT_THAT(npy->extents, ElementsAre(2, 1));

  const auto third = from_hex(
      "934e554d50590300740000007b276465736372273a20273c6632272c2027666f727472616e5f6f72"
      "646572273a2046616c73652c20277368617065273a2028322c292c207d" +
      padding(58) + "0a003e0080");
  const auto halves = parse(third);
  ASSERT_TRUE(halves) << halves.error().detail;
  EXPECT_EQ(halves->type, ElementType::kF16);
}

TEST(ParseNpy, RefusesWhatNumPyWritesOtherwise) {
  expect_refused(npy_text(">f4", "(1,)", "abcd"), "big-endian");
  expect_refused(npy_text("<f8", "(1,)", "abcdefgh"), "type <f8");
  expect_refused(npy_text("<u2", "(1,)", "ab"), "type <u2");
  expect_refused(npy_text("|b1", "(1,)", "a"), "type |b1");
  expect_refused(npy_text("|O", "(1,)", "pickle"), "Python objects");
  expect_refused(npy_text("<U7", "(1,)", std::string(28, 'x')), "type <U7");
  const auto fields = from_hex(
      "934e554d5059010076007b276465736372273a205b282761272c20273c693427292c20282762272c"
      "20273c663427295d2c2027666f727472616e5f6f72646572273a2046616c73652c20277368617065"
      "273a2028312c292c207d" +
      padding(37) + "0a0000000000000000");
  expect_refused(fields, "several fields");
  auto fortran = npy_text("<f4", "(2, 2)", std::string(16, 'x'));
  fortran.replace(fortran.find("False"), 5, "True ");
  expect_refused(fortran, "Fortran order");
}

TEST(ParseNpy, RefusesEveryTruncation) {
  const auto whole = npy_text("<i4", "(2, 3)", std::string(24, 'x'));

  for (std::size_t size = 8; size < whole.size(); ++size) {
    expect_refused(whole.substr(0, size), "truncated");
  }
  for (std::size_t size = 0; size < 6; ++size) expect_refused(whole.substr(0, size), "no npy");
  EXPECT_TRUE(parse(whole));
  expect_refused(whole + "x", "1 bytes after its last value");
}

TEST(ParseNpy, RefusesLyingShapes) {
  expect_refused(npy_text("|u1", "(4294967296, 4294967296)", ""), "truncated");
  expect_refused(npy_text("<i8", "(2305843009213693952,)", ""), "truncated");  // 2^61 eights
  expect_refused(npy_text("|u1", "(18446744073709551616,)", ""), "beyond 64 bits");
  expect_refused(npy_text("|u1", "(-1,)", "a"), "whole numbers");
  expect_refused(npy_text("|u1", "(1.5,)", "a"), "no tuple");
  expect_refused(npy_text("|u1", "(3)", "abc"), "no tuple");
  expect_refused(npy_text("|u1", "[3]", "abc"), "'('");
  expect_refused(npy_text("|u1", "(3,", "abc"), "whole numbers");
  std::string deep = "(";
  for (int i = 0; i < 33; ++i) deep += "1,";
  expect_refused(npy_text("|u1", deep + ")", "a"), "too many extents");
}

TEST(ParseNpy, RefusesHeadersThatAreNoDictOfThreeKeys) {
  const auto with = [](const std::string& from, const std::string& to) {
    auto text = npy_text("|u1", "(3,)", "abc");
    return text.replace(text.find(from), to.size(), to);
  };
  expect_refused(with("{", " "), "'{'");
  expect_refused(with("}", "x"), "header");
  expect_refused(with("} ", "}x"), "after the dict");
  expect_refused(with("'descr'", "'dxscr'"), "none of NumPy's");
  expect_refused(with("'descr':", "'descr';"), "':'");
  expect_refused(with("False", "Folse"), "'False'");
  expect_refused(with("'shape': (3,), }", "'descr': '|u1' }"), "twice");
  expect_refused(with("'shape': (3,), }", "}               "), "lacks");
  auto version = npy_text("|u1", "(3,)", "abc");
  version[6] = 4;
  expect_refused(version, "version 4.0");
  version[6] = 2;  // now the length has four bytes, two of them of the dict
  expect_refused(version, "npy header of");
}

RC_GTEST_PROP(ParseNpy, AccountsForEveryByte, ()) {
  const auto rows = *rc::gen::inRange(0, 20);
  const auto columns = *rc::gen::inRange(0, 20);
  const auto bytes = *rc::gen::inRange(0, 900);
  const auto shape = fmt::format("({}, {})", rows, columns);

  const auto npy = parse(npy_text("<f2", shape, std::string(static_cast<std::size_t>(bytes), 'x')));

  RC_ASSERT(npy.has_value() == (2 * rows * columns == bytes));
}

TEST(WidenHalf, MakesOfEveryHalfWhatNumPyMakes) {
  std::vector<float> numbers;
  int nan_count = 0;
  for (unsigned half = 0; half < 65536; ++half) {
    const float wide = widen_half(static_cast<std::uint16_t>(half));
    const bool nan = (half & 0x7c00) == 0x7c00 && (half & 0x3ff) != 0;
    EXPECT_EQ(std::isnan(wide), nan);
    nan ? void(++nan_count) : numbers.push_back(wide);
  }

  EXPECT_EQ(nan_count, 65536 - 63490);
  EXPECT_EQ(sha256(std::as_bytes(std::span(numbers))).hex(),
            "680bbc22915f61aa1bbfc7265bc3882a6aa42d299bfd2c571807196e5544de2e");
}

}  // namespace
}  // namespace wide::data
