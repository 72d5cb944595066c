#include "wide/store/log_record.h"

#include <fmt/format.h>

#include <array>

#include "wide/base/bytes.h"
#include "wide/base/check.h"

namespace wide::store {
namespace {

constexpr std::uint32_t kRecordMagic = 0x43455257;  // "WREC"
constexpr std::uint16_t kBulkTakenOut = 1;
constexpr std::size_t kCheckedBytes = kRecordHeaderBytes - sizeof(std::uint64_t);

void put_fields(ByteWriter& writer, const RecordHeader& header, std::uint16_t flags) {
  writer.put(kRecordMagic);
  writer.put(header.type);
  writer.put(flags);
  writer.put(header.body_bytes);
  writer.put(std::uint32_t{0});
  writer.put(header.sequence);
  writer.put(header.synced);
  writer.put(header.bulk_bytes);
  writer.put(header.bulk_check);
  writer.digest(header.previous);
}

std::uint64_t check_of(std::span<const std::byte> fields, std::span<const std::byte> body) {
  const std::array parts = {fields, body};
  return xxh3_joined(parts);
}

}  // namespace

std::vector<std::byte> encode_header(const RecordHeader& header, std::span<const std::byte> body) {
  WIDE_CHECK(header.body_bytes == body.size() && body.size() <= kBodyBytesMax);
  WIDE_CHECK(header.bulk_bytes <= kBulkBytesMax && header.synced <= header.sequence);
  ByteWriter writer(kRecordHeaderBytes);
  put_fields(writer, header, header.bulk_taken_out ? kBulkTakenOut : 0);
  auto bytes = writer.take();
  const auto check = check_of(bytes, body);
  const auto check_bytes = std::as_bytes(std::span(&check, 1));
  bytes.insert(bytes.end(), check_bytes.begin(), check_bytes.end());
  return bytes;
}

Result<RecordHeader> decode_header(std::span<const std::byte> bytes) {
  WIDE_CHECK(bytes.size() == kRecordHeaderBytes);
  ByteReader reader(bytes);
  RecordHeader header;
  const auto magic = reader.get<std::uint32_t>();
  header.type = reader.get<std::uint16_t>();
  const auto flags = reader.get<std::uint16_t>();
  header.body_bytes = reader.get<std::uint32_t>();
  const auto reserved = reader.get<std::uint32_t>();
  header.sequence = reader.get<std::uint64_t>();
  header.synced = reader.get<std::uint64_t>();
  header.bulk_bytes = reader.get<std::uint64_t>();
  header.bulk_check = reader.get<std::uint64_t>();
  header.previous = reader.digest();
  header.bulk_taken_out = flags == kBulkTakenOut;

  if (magic != kRecordMagic) return fail(Errc::kLogDamaged, "no record begins there");
  if (flags > kBulkTakenOut || reserved != 0) {
    return fail(Errc::kLogDamaged, fmt::format("unknown flags {} and {}", flags, reserved));
  }
  if (header.body_bytes > kBodyBytesMax || header.bulk_bytes > kBulkBytesMax) {
    return fail(Errc::kLogDamaged, fmt::format("a body of {} bytes with a bulk of {}",
                                               header.body_bytes, header.bulk_bytes));
  }
  if (header.synced > header.sequence) {
    return fail(Errc::kLogDamaged, "it says that it was synced before it was written");
  }
  return header;
}

bool check_matches(std::span<const std::byte> header_bytes, std::span<const std::byte> body) {
  WIDE_CHECK(header_bytes.size() == kRecordHeaderBytes);
  ByteReader reader(header_bytes.subspan(kCheckedBytes));
  return reader.get<std::uint64_t>() == check_of(header_bytes.first(kCheckedBytes), body);
}

Digest record_digest(const RecordHeader& header, std::span<const std::byte> body) {
  ByteWriter writer(kCheckedBytes);
  put_fields(writer, header, 0);
  return Sha256().update(writer.take()).update(body).finish();
}

}  // namespace wide::store
