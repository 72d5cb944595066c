#include "wide/wire/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "wide/base/digest.h"
#include "wide/codec/lossless.h"

namespace wide::wire {

namespace {
constexpr std::size_t kHashedBytes = 24;  // all of the header before its checksum

constexpr std::array<std::string_view, kKindLast + 1> kKindNames = {
    "",          "hello",    "welcome",      "refused",  "ready",          "want",
    "lease",     "result",   "update",       "snapshot", "eval lease",     "eval result",
    "heartbeat", "leave",    "bye",          "resync",   "status request", "status report",
    "measure",   "measured", "want samples", "manifest", "fetch",          "chunk",
    "samples",   "echo",     "yield",        "committed"};

template <class T>
T load(std::span<const std::byte, kHeaderBytes> bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

template <class T>
void store(HeaderBytes& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}

tl::unexpected<Error> bad_frame(std::string detail) {
  return fail(Errc::kBadFrame, std::move(detail));
}

bool sizes_agree(const Header& header) {
  if (header.codec == 0) return header.raw_bytes == header.body_bytes;
  return header.raw_bytes > header.body_bytes && header.body_bytes > kCodedSizeBytes;
}

Result<Header> checked_sizes(const Header& header) {
  if (header.body_bytes > kFragmentBytes || header.raw_bytes > kFragmentBytes) {
    return bad_frame(fmt::format("body of {} bytes, at most {}",
                                 std::max(header.body_bytes, header.raw_bytes), kFragmentBytes));
  }
  if (header.body_bytes % 8 != 0 || header.raw_bytes % 8 != 0) {
    const auto odd = header.body_bytes % 8 != 0 ? header.body_bytes : header.raw_bytes;
    return bad_frame(fmt::format("body of {} bytes, not padded to 8", odd));
  }
  if (!sizes_agree(header)) {
    return bad_frame(fmt::format("{} raw bytes in a body of {}, codec {}", header.raw_bytes,
                                 header.body_bytes, header.codec));
  }
  if (header.flags == kMoreFollows && header.raw_bytes != kFragmentBytes) {
    return bad_frame(fmt::format("fragment of {} bytes before the last", header.raw_bytes));
  }
  return header;
}
}  // namespace

std::string_view kind_name(Kind kind) {
  const auto number = static_cast<std::uint16_t>(kind);
  return number >= 1 && number <= kKindLast ? kKindNames[number] : "unknown";
}

HeaderBytes encode_header(const Header& header, std::uint64_t body_xxh3) {
  HeaderBytes bytes{};
  store(bytes, 0, kMagic);
  store(bytes, 4, header.version);
  store(bytes, 6, static_cast<std::uint16_t>(header.kind));
  store(bytes, 8, header.body_bytes);
  store(bytes, 12, header.raw_bytes);
  store(bytes, 16, header.sequence);
  store(bytes, 20, header.codec);
  store(bytes, 21, header.flags);
  store(bytes, 24, xxh3(std::span(bytes).first(kHashedBytes), body_xxh3));
  return bytes;
}

Result<Header> decode_header(std::span<const std::byte, kHeaderBytes> bytes) {
  if (load<std::uint32_t>(bytes, 0) != kMagic) return bad_frame("not a wide frame");
  Header header;
  header.version = load<std::uint16_t>(bytes, 4);
  if (header.version != kProtocolVersion) {
    return fail(Errc::kOtherProtocol, fmt::format("speaks protocol {}, this program speaks {}",
                                                  header.version, kProtocolVersion));
  }
  const auto kind = load<std::uint16_t>(bytes, 6);
  if (kind == 0 || kind > kKindLast) return bad_frame(fmt::format("unknown kind {}", kind));
  header.kind = static_cast<Kind>(kind);
  header.body_bytes = load<std::uint32_t>(bytes, 8);
  header.raw_bytes = load<std::uint32_t>(bytes, 12);
  header.sequence = load<std::uint32_t>(bytes, 16);
  header.codec = load<std::uint8_t>(bytes, 20);
  header.flags = load<std::uint8_t>(bytes, 21);
  header.checksum = load<std::uint64_t>(bytes, 24);
  if (header.codec >= codec::kLosslessCount)
    return bad_frame(fmt::format("unknown codec {}", header.codec));
  if (header.flags > kMoreFollows) return bad_frame(fmt::format("unknown flags {}", header.flags));
  if (load<std::uint16_t>(bytes, 22) != 0) return bad_frame("reserved bits are set");
  return checked_sizes(header);
}

bool checksum_fits(std::span<const std::byte, kHeaderBytes> header, std::uint64_t body_xxh3) {
  return load<std::uint64_t>(header, 24) == xxh3(header.first(kHashedBytes), body_xxh3);
}

}  // namespace wide::wire
