#pragma once
// A frame is what travels: a fixed 32-byte little-endian header, then `body_bytes` of body.
//
//   at  0  magic u32         12  raw_bytes u32      22  reserved u16
//       4  version u16       16  sequence u32       24  xxh3 u64
//       6  kind u16          20  codec u8           32  body
//       8  body_bytes u32    21  flags u8
//
// `sequence` counts the frames of one direction of one link, from 0. xxh3 is seeded with the body's
// own xxh3 and taken over the first 24 bytes, so a body shared by many links is hashed once.
//
// A message longer than kFragmentBytes is cut into frames of one kind, all but the last with
// kMoreFollows and exactly kFragmentBytes long; only heartbeats may come between them. Bodies are
// padded to 8 bytes, so every frame in a drained buffer starts aligned.
//
// A fragment may be coded without loss, each by itself. raw_bytes is what it was before, and is
// what the lengths above are about; what travels is shorter, or it would not be coded
// (packet_code.h):
//
//   codec 0, as it is    body_bytes = raw_bytes
//   codec 1 …            | coded_bytes u32 | code | 0…7 zeros |    body_bytes < raw_bytes
//
// Pure functions on bytes: no sockets, no clocks, no exceptions. Safe on any thread.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "wide/base/error.h"

namespace wide::wire {

inline constexpr std::uint32_t kMagic = 0x45444957;  // "WIDE"
inline constexpr std::uint16_t kProtocolVersion = 9;
inline constexpr std::size_t kHeaderBytes = 32;
inline constexpr std::size_t kFragmentBytes = 1u << 20;
inline constexpr std::size_t kStrangerBytes = 4096;  // a body's limit before a valid hello
inline constexpr std::uint8_t kMoreFollows = 1;
inline constexpr std::size_t kCodedSizeBytes = 4;  // ahead of a code: how long it is

enum class Kind : std::uint16_t {
  kHello = 1,
  kWelcome,
  kRefused,
  kReady,
  kWant,
  kLease,
  kResult,
  kUpdate,
  kSnapshot,
  kEvalLease,
  kEvalResult,
  kHeartbeat,
  kLeave,
  kBye,
  kResync,
  kStatusRequest,
  kStatusReport,
  kMeasure,
  kMeasured,
  kWantSamples,
  kManifest,
  kFetch,
  kChunk,
  kSamples,
  kEcho,
  kYield,
  kCommitted,
};
inline constexpr std::uint16_t kKindLast = static_cast<std::uint16_t>(Kind::kCommitted);

std::string_view kind_name(Kind kind);  // "result", "eval lease": for messages to people

struct Header {
  std::uint16_t version = kProtocolVersion;
  Kind kind = Kind::kHeartbeat;
  std::uint32_t body_bytes = 0;
  std::uint32_t raw_bytes = 0;
  std::uint32_t sequence = 0;
  std::uint8_t codec = 0;
  std::uint8_t flags = 0;
  std::uint64_t checksum = 0;
};

using HeaderBytes = std::array<std::byte, kHeaderBytes>;

// Fills in the checksum from `body_xxh3`, the xxh3 of the body.
HeaderBytes encode_header(const Header& header, std::uint64_t body_xxh3);

// Refuses another magic or version, an unknown kind, codec, flag or reserved bit, a fragment over
// kFragmentBytes or not padded, a short one before the last, and a code that is no shorter than
// what it stands for. The checksum is checked later, when the body is here.
Result<Header> decode_header(std::span<const std::byte, kHeaderBytes> bytes);

bool checksum_fits(std::span<const std::byte, kHeaderBytes> header, std::uint64_t body_xxh3);

}  // namespace wide::wire
