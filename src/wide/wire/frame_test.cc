#include "wide/wire/frame.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "wide/base/digest.h"
#include "wide/codec/lossless.h"

namespace wide::wire {
namespace {

Header example_header() {
  Header header;
  header.kind = Kind::kResult;
  header.body_bytes = header.raw_bytes = 0x10;
  header.sequence = 0x01020304;
  return header;
}

// An example's bytes with one of them changed.
HeaderBytes with_byte(std::size_t at, unsigned value) {
  HeaderBytes bytes = encode_header(example_header(), 5);
  bytes[at] = static_cast<std::byte>(value);
  return bytes;
}

std::string refusal(const HeaderBytes& bytes) {
  const auto header = decode_header(bytes);
  return header ? "" : header.error().detail;
}

TEST(EncodeHeader, LaysItsFieldsAsDrawn) {
  const HeaderBytes bytes = encode_header(example_header(), 5);

  const unsigned char expected[24] = {'W',  'I', 'D', 'E', 9, 0, 7, 0, 0x10, 0, 0, 0,
                                      0x10, 0,   0,   0,   4, 3, 2, 1, 0,    0, 0, 0};
  EXPECT_EQ(std::memcmp(bytes.data(), expected, 24), 0);
  std::uint64_t checksum;
  std::memcpy(&checksum, bytes.data() + 24, 8);
  EXPECT_EQ(checksum, xxh3(std::span(bytes).first(24), 5));
}

TEST(DecodeHeader, ReadsWhatWasWritten) {
  const auto header = decode_header(encode_header(example_header(), 5));

  ASSERT_TRUE(header);
  EXPECT_EQ(header->kind, Kind::kResult);
  EXPECT_EQ(header->body_bytes, 0x10u);
  EXPECT_EQ(header->sequence, 0x01020304u);
  EXPECT_EQ(header->flags, 0);
}

TEST(DecodeHeader, RefusesAnotherMagic) {
  EXPECT_EQ(refusal(with_byte(0, 'G')), "not a wide frame");
}

TEST(DecodeHeader, RefusesAnotherVersion) {
  const auto header = decode_header(with_byte(4, 1));

  ASSERT_FALSE(header);
  EXPECT_EQ(header.error().code, Errc::kOtherProtocol);
  EXPECT_EQ(header.error().detail, "speaks protocol 1, this program speaks 9");
}

TEST(DecodeHeader, RefusesAnUnknownKind) {
  EXPECT_EQ(refusal(with_byte(6, 77)), "unknown kind 77");
  EXPECT_EQ(refusal(with_byte(6, 0)), "unknown kind 0");
  EXPECT_EQ(refusal(with_byte(6, kKindLast + 1)), "unknown kind 28");
}

TEST(DecodeHeader, RefusesAnUnknownCodecFlagOrReservedBit) {
  EXPECT_EQ(refusal(with_byte(20, codec::kLosslessCount)), "unknown codec 6");
  EXPECT_EQ(refusal(with_byte(21, 2)), "unknown flags 2");
  EXPECT_EQ(refusal(with_byte(23, 1)), "reserved bits are set");
}

TEST(DecodeHeader, RefusesAGiantOrUnpaddedBody) {
  EXPECT_EQ(refusal(with_byte(11, 0xff)), "body of 4278190096 bytes, at most 1048576");
  EXPECT_EQ(refusal(with_byte(8, 0x11)), "body of 17 bytes, not padded to 8");
  EXPECT_EQ(refusal(with_byte(12, 0x18)), "24 raw bytes in a body of 16, codec 0");
}

TEST(DecodeHeader, RefusesAShortFragmentBeforeTheLast) {
  EXPECT_EQ(refusal(with_byte(21, kMoreFollows)), "fragment of 16 bytes before the last");
}

TEST(ChecksumFits, NoticesEveryBitOfHeaderAndBodyHash) {
  const HeaderBytes good = encode_header(example_header(), 5);
  ASSERT_TRUE(checksum_fits(good, 5));

  for (std::size_t bit = 0; bit < kHeaderBytes * 8; ++bit) {
    HeaderBytes bad = good;
    bad[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    EXPECT_FALSE(checksum_fits(bad, 5)) << "bit " << bit;
  }
  EXPECT_FALSE(checksum_fits(good, 4));
}

TEST(KindName, NamesEveryKind) {
  for (std::uint16_t kind = 1; kind <= kKindLast; ++kind) {
    EXPECT_FALSE(kind_name(static_cast<Kind>(kind)).empty()) << kind;
  }
  EXPECT_EQ(kind_name(Kind::kResult), "result");
  EXPECT_EQ(kind_name(Kind::kMeasured), "measured");
}

}  // namespace
}  // namespace wide::wire
