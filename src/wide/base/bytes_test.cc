#include "wide/base/bytes.h"

#include <gtest/gtest.h>

namespace wide {
namespace {

TEST(ByteWriter, WritesLittleEndian) {
  ByteWriter writer;

  writer.put<std::uint32_t>(0x01020304);

  const std::vector<std::byte> expected = {std::byte{4}, std::byte{3}, std::byte{2}, std::byte{1}};
  EXPECT_EQ(writer.take(), expected);
}

TEST(ByteWriter, PadsWithZeros) {
  ByteWriter writer;
  writer.put<std::uint8_t>(0xff);

  writer.pad_to(8);

  const auto bytes = writer.take();
  ASSERT_EQ(bytes.size(), 8u);
  EXPECT_EQ(bytes[7], std::byte{0});
}

TEST(ByteReader, ReadsWhatWasWritten) {
  ByteWriter writer;
  writer.put<std::uint16_t>(7);
  writer.put(-2.5);
  writer.text("für");
  writer.digest(sha256("abc"));
  const auto bytes = writer.take();

  ByteReader reader(bytes);

  EXPECT_EQ(reader.get<std::uint16_t>(), 7);
  EXPECT_EQ(reader.get<double>(), -2.5);
  EXPECT_EQ(reader.text(4), "für");
  EXPECT_EQ(reader.digest(), sha256("abc"));
  EXPECT_TRUE(reader.ok());
  EXPECT_EQ(reader.left(), 0u);
}

TEST(ByteReader, RemembersItsFirstShortRead) {
  const std::vector<std::byte> bytes(6, std::byte{1});
  ByteReader reader(bytes);

  EXPECT_EQ(reader.get<std::uint64_t>(), 0u);
  EXPECT_EQ(reader.get<std::uint8_t>(), 0u) << "zeros from then on, though bytes are left";
  EXPECT_FALSE(reader.ok());
}

TEST(ByteReader, RefusesATextOverItsLimit) {
  ByteWriter writer;
  writer.text("hello");
  const auto bytes = writer.take();
  ByteReader reader(bytes);

  EXPECT_EQ(reader.text(4), "");
  EXPECT_FALSE(reader.ok());
}

TEST(ByteReader, RefusesALengthThatIsNotThere) {
  ByteWriter writer;
  writer.put<std::uint32_t>(0xffffffff);
  const auto bytes = writer.take();
  ByteReader reader(bytes);

  EXPECT_EQ(reader.text(SIZE_MAX), "");
  EXPECT_FALSE(reader.ok());
}

TEST(ByteReader, SkipsToAMultiple) {
  const std::vector<std::byte> bytes(16);
  ByteReader reader(bytes);
  reader.get<std::uint8_t>();

  reader.skip_to(8);
  EXPECT_EQ(reader.position(), 8u);
  reader.skip_to(8);
  EXPECT_EQ(reader.position(), 8u);
}

}  // namespace
}  // namespace wide
