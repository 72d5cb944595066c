#pragma once
// A record of the ledger log: a header, a body that stays for ever, and a bulk (the update of a
// step) that may be taken out once a checkpoint stands behind it. Pure functions on bytes.
//
//   0  magic u32  "WREC"
//   4  type u16              8  body_bytes u32
//   6  flags u16             12 reserved u32 (0)
//   16 sequence u64          24 synced u64        records below this were on the disk when this
//                                                 one was written
//   32 bulk_bytes u64        40 bulk_check u64    of the bulk, there or taken out
//   48 previous 32 bytes     the digest of the record before
//   80 check u64             xxh3-64 of the 80 bytes above and the body
//   88 body, then the bulk unless flags say that it was taken out
//
// The digest of a record is the SHA-256 of its header (flags as 0, without the check) and its body:
// it names the bulk by its checksum, and is the same before and after the bulk is taken out.

#include <cstdint>
#include <span>
#include <vector>

#include "wide/base/digest.h"
#include "wide/base/error.h"

namespace wide::store {

inline constexpr std::size_t kRecordHeaderBytes = 88;
inline constexpr std::uint32_t kBodyBytesMax = 64u << 20;
inline constexpr std::uint64_t kBulkBytesMax = std::uint64_t{64} << 30;

struct RecordHeader {
  std::uint16_t type = 0;
  bool bulk_taken_out = false;
  std::uint32_t body_bytes = 0;
  std::uint64_t sequence = 0;
  std::uint64_t synced = 0;
  std::uint64_t bulk_bytes = 0;
  std::uint64_t bulk_check = 0;
  Digest previous;

  // What follows the header in the file.
  std::uint64_t rest_bytes() const { return body_bytes + (bulk_taken_out ? 0 : bulk_bytes); }
};

// The header's 88 bytes, for this body.
std::vector<std::byte> encode_header(const RecordHeader& header, std::span<const std::byte> body);

// From exactly kRecordHeaderBytes bytes: their form alone (magic, flags, reserved, limits). The
// check needs the body.
Result<RecordHeader> decode_header(std::span<const std::byte> bytes);
bool check_matches(std::span<const std::byte> header_bytes, std::span<const std::byte> body);

Digest record_digest(const RecordHeader& header, std::span<const std::byte> body);

}  // namespace wide::store
