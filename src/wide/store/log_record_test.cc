#include "wide/store/log_record.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstring>

#include "wide/store/example_log.h"

namespace wide::store {
namespace {

RecordHeader small_header(std::uint32_t body_bytes) {
  RecordHeader header;
  header.type = 0x0102;
  header.body_bytes = body_bytes;
  header.sequence = 0x1122334455667788;
  header.synced = 0x1122334455667700;
  header.bulk_bytes = 5;
  header.bulk_check = 0xa1a2a3a4a5a6a7a8;
  header.previous = sha256("before");
  return header;
}

template <class T>
T field(std::span<const std::byte> bytes, std::size_t at) {
  T value;
  std::memcpy(&value, &bytes[at], sizeof(value));
  return value;
}

TEST(EncodeHeader, LaysFieldsWhereThePictureHasThem) {
  const std::string body = "body";
  const auto bytes = encode_header(small_header(4), bytes_of(body));

  ASSERT_EQ(bytes.size(), kRecordHeaderBytes);
  EXPECT_EQ(std::memcmp(bytes.data(), "WREC", 4), 0);
  EXPECT_EQ(field<std::uint16_t>(bytes, 4), 0x0102);
  EXPECT_EQ(field<std::uint16_t>(bytes, 6), 0);
  EXPECT_EQ(field<std::uint32_t>(bytes, 8), 4u);
  EXPECT_EQ(field<std::uint32_t>(bytes, 12), 0u);
  EXPECT_EQ(field<std::uint64_t>(bytes, 16), 0x1122334455667788u);
  EXPECT_EQ(field<std::uint64_t>(bytes, 24), 0x1122334455667700u);
  EXPECT_EQ(field<std::uint64_t>(bytes, 32), 5u);
  EXPECT_EQ(field<std::uint64_t>(bytes, 40), 0xa1a2a3a4a5a6a7a8u);
  EXPECT_EQ(std::memcmp(&bytes[48], sha256("before").bytes.data(), 32), 0);

  std::string checked(reinterpret_cast<const char*>(bytes.data()), 80);
  EXPECT_EQ(field<std::uint64_t>(bytes, 80), xxh3(bytes_of(checked + body)));
}

TEST(RecordDigest, IsOfTheHeaderWithoutFlagsAndCheckAndOfTheBody) {
  const std::string body = "body";
  auto header = small_header(4);
  const auto bytes = encode_header(header, bytes_of(body));
  const std::string hashed(reinterpret_cast<const char*>(bytes.data()), 80);

  EXPECT_EQ(record_digest(header, bytes_of(body)), sha256(hashed + body));
  header.bulk_taken_out = true;
  EXPECT_EQ(record_digest(header, bytes_of(body)), sha256(hashed + body));
}

TEST(DecodeHeader, RefusesWhatNoWriterWrites) {
  const auto refused = [](std::size_t at, std::byte value) {
    auto bytes = encode_header(small_header(0), {});
    bytes[at] = value;
    const auto header = decode_header(bytes);
    return !header && header.error().code == Errc::kLogDamaged && !header.error().detail.empty();
  };
  EXPECT_FALSE(refused(4, std::byte{9}));    // any type is fine
  EXPECT_TRUE(refused(0, std::byte{'w'}));   // magic
  EXPECT_TRUE(refused(6, std::byte{2}));     // an unknown flag
  EXPECT_TRUE(refused(7, std::byte{1}));     // another
  EXPECT_TRUE(refused(11, std::byte{255}));  // 4 GB of body
  EXPECT_TRUE(refused(12, std::byte{1}));    // reserved
  EXPECT_TRUE(refused(31, std::byte{255}));  // synced beyond itself
  EXPECT_TRUE(refused(39, std::byte{1}));    // a huge bulk
}

RC_GTEST_PROP(LogRecord, ComesBackAsItWas, ()) {
  RecordHeader header;
  const auto body = *rc::gen::arbitrary<std::string>();
  header.type = *rc::gen::arbitrary<std::uint16_t>();
  header.bulk_taken_out = *rc::gen::arbitrary<bool>();
  header.body_bytes = static_cast<std::uint32_t>(body.size());
  header.sequence = *rc::gen::arbitrary<std::uint64_t>();
  header.synced = *rc::gen::inRange<std::uint64_t>(
      0, header.sequence + 1 == 0 ? header.sequence : header.sequence + 1);
  header.bulk_bytes = *rc::gen::inRange<std::uint64_t>(0, kBulkBytesMax);
  header.bulk_check = *rc::gen::arbitrary<std::uint64_t>();
  header.previous = sha256(*rc::gen::arbitrary<std::string>());

  const auto bytes = encode_header(header, bytes_of(body));
  const auto back = decode_header(bytes).value();

  RC_ASSERT(check_matches(bytes, bytes_of(body)));
  RC_ASSERT(back.type == header.type && back.bulk_taken_out == header.bulk_taken_out);
  RC_ASSERT(back.body_bytes == header.body_bytes && back.sequence == header.sequence);
  RC_ASSERT(back.synced == header.synced && back.bulk_bytes == header.bulk_bytes);
  RC_ASSERT(back.bulk_check == header.bulk_check && back.previous == header.previous);
  RC_ASSERT(encode_header(back, bytes_of(body)) == bytes);
}

}  // namespace
}  // namespace wide::store
