#include "wide/wire/message_codec.h"

#include <algorithm>
#include <array>

#include "wide/base/check.h"

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
    case Kind::kReady:
      return text + 8 * std::size_t{limits.kept_count_max};
    case Kind::kRefused:
    case Kind::kLeave:
    case Kind::kBye:
    case Kind::kResync:
    case Kind::kEcho:
      return text;
    case Kind::kResult:
      return 34 * std::size_t{limits.block_count_max} + 4 * limits.value_count;
    case Kind::kUpdate:
      return 4 * limits.value_count;
    case Kind::kSnapshot:
      return 4 * limits.state_count;
    case Kind::kEvalResult:
      return 16 * std::size_t{limits.eval_unit_max};
    case Kind::kStatusReport:
      return limits.status_bytes_max;
    case Kind::kManifest:
      return limits.manifest_bytes_max;
    case Kind::kFetch:
      return 8 * std::size_t{limits.fetch_count_max};
    case Kind::kChunk:
      return limits.chunk_bytes_max;
    case Kind::kSamples:
      return limits.sample_bytes_max;
    case Kind::kWantSamples:
    case Kind::kWant:
    case Kind::kLease:
    case Kind::kEvalLease:
    case Kind::kHeartbeat:
    case Kind::kStatusRequest:
    case Kind::kMeasure:
    case Kind::kMeasured:
    case Kind::kYield:
    case Kind::kCommitted:
      return 0;
  }
  return 0;
}
}  // namespace

std::size_t Limits::body_bytes_max(Kind kind) const {
  return stranger ? kStrangerBytes : padded(kFieldBytesMax + unpadded_max(*this, kind));
}

Floats floats_of(const Coded& coded) {
  WIDE_CHECK(coded.codec == 0, "coded values are no floats");
  if (coded.bytes.empty()) return {};
  const auto at = static_cast<std::size_t>(coded.bytes.data() - coded.owner->begin());
  auto* const first = reinterpret_cast<float*>(coded.owner->begin() + at);
  return {coded.owner, {first, coded.bytes.size() / sizeof(float)}};
}

Coded as_they_are(Floats floats) {
  const auto bytes = floats.bytes();
  return {0, std::move(floats.owner), bytes};
}

Kind kind_of(const Message& message) {
  return static_cast<Kind>(message.index() + 1);  // the variant lists them in the enum's order
}

bool has_bulk(Kind kind) {
  switch (kind) {
    case Kind::kResult:
    case Kind::kUpdate:
    case Kind::kSnapshot:
    case Kind::kManifest:
    case Kind::kChunk:
    case Kind::kSamples:
      return true;
    default:
      return false;
  }
}

std::size_t body_bytes(const Packet& packet) {
  return packet.head.size() + padded(packet.bulk_bytes);
}

std::size_t wire_bytes(const Packet& packet) {
  return body_bytes(packet) + kHeaderBytes * packet.fragment_xxh3.size();
}

void add_body(const Packet& packet, std::size_t begin, std::size_t end, Segments& segments) {
  if (packet.bulk_bytes == 0)
    return segments.push_back(std::span(packet.head).first(end).subspan(begin));
  static constexpr std::array<std::byte, 8> kZeros{};
  std::size_t at = 0;  // where in the body the run begins
  const auto add = [&](std::span<const std::byte> run) {
    const std::size_t first = std::clamp(begin, at, at + run.size()) - at;
    const std::size_t last = std::clamp(end, at, at + run.size()) - at;
    if (first < last) segments.push_back(run.subspan(first, last - first));
    at += run.size();
  };
  add(packet.head);
  for (const auto run : packet.bulk.runs) add(run);
  add(std::span(kZeros).first(padded(packet.bulk_bytes) - packet.bulk_bytes));
}

}  // namespace wide::wire
