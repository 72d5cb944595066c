#include "wide/wire/message_codec.h"

#include <algorithm>

namespace wide::wire {

static_assert(std::variant_size_v<Message> == kKindLast, "one kind for each message");

namespace {
constexpr std::size_t kFieldBytesMax = 256;  // all fields of fixed size of any one message

constexpr std::size_t padded(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

std::size_t unpadded_max(const Limits& limits, Kind kind) {
  const std::size_t text = 4 + std::size_t{limits.text_bytes_max};
  switch (kind) {
    case Kind::kHello:
      return 2 * text;
    case Kind::kWelcome:
      return text + 4 + limits.job_bytes_max;
    case Kind::kRefused:
    case Kind::kReady:
    case Kind::kLeave:
    case Kind::kBye:
    case Kind::kResync:
      return text;
    case Kind::kResult:
      return 32 * std::size_t{limits.block_count_max} + 4 * limits.value_count;
    case Kind::kUpdate:
      return 4 * limits.value_count;
    case Kind::kSnapshot:
      return 4 * limits.state_count;
    case Kind::kEvalResult:
      return 16 * std::size_t{limits.eval_unit_max};
    case Kind::kStatusReport:
      return limits.status_bytes_max;
    case Kind::kWant:
    case Kind::kLease:
    case Kind::kEvalLease:
    case Kind::kHeartbeat:
    case Kind::kStatusRequest:
    case Kind::kMeasure:
    case Kind::kMeasured:
      return 0;
  }
  return 0;
}
}  // namespace

std::size_t Limits::body_bytes_max(Kind kind) const {
  return stranger ? kStrangerBytes : padded(kFieldBytesMax + unpadded_max(*this, kind));
}

Kind kind_of(const Message& message) {
  return static_cast<Kind>(message.index() + 1);  // the variant lists them in the enum's order
}

bool has_bulk(Kind kind) {
  return kind == Kind::kResult || kind == Kind::kUpdate || kind == Kind::kSnapshot;
}

std::size_t body_bytes(const Packet& packet) {
  return packet.head.size() + padded(packet.bulk.values.size_bytes());
}

std::size_t wire_bytes(const Packet& packet) {
  return body_bytes(packet) + kHeaderBytes * packet.fragment_xxh3.size();
}

BodyParts body_parts(const Packet& packet, std::size_t begin, std::size_t end) {
  static constexpr std::array<std::byte, 8> kZeros{};
  const std::size_t padding_bytes =
      padded(packet.bulk.values.size_bytes()) - packet.bulk.values.size_bytes();
  BodyParts parts = {packet.head, packet.bulk.bytes(), std::span(kZeros).first(padding_bytes)};
  std::size_t at = 0;  // where in the body the part begins
  for (auto& part : parts) {
    const std::size_t size = part.size();
    const std::size_t first = std::clamp(begin, at, at + size) - at;
    const std::size_t last = std::clamp(end, at, at + size) - at;
    part = part.subspan(first, last - first);
    at += size;
  }
  return parts;
}

}  // namespace wide::wire
