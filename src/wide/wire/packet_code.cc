#include "wide/wire/packet_code.h"

#include <algorithm>
#include <cstring>

#include "wide/base/digest.h"

namespace wide::wire {

namespace {
constexpr std::size_t kPaddedTo = 8;
}

std::size_t fragment_count(const Packet& packet) { return packet.fragment_xxh3.size(); }

std::size_t fragment_bytes(const Packet& packet, std::size_t fragment) {
  return std::min(body_bytes(packet) - fragment * kFragmentBytes, kFragmentBytes);
}

std::span<const std::byte> fragment_body(const Packet& packet, std::size_t fragment,
                                         std::vector<std::byte>& room) {
  const std::size_t begin = fragment * kFragmentBytes;
  Segments parts;
  add_body(packet, begin, begin + fragment_bytes(packet, fragment), parts);
  if (parts.size() == 1) return parts.front();
  room.clear();
  for (const auto part : parts) room.insert(room.end(), part.begin(), part.end());
  return room;
}

CodedFragment code_fragment(const Packet& packet, std::size_t fragment, codec::Lossless codec,
                            FragmentCoder& coder, BufferPool& buffers) {
  const auto raw = fragment_body(packet, fragment, coder.joined);
  if (codec == codec::Lossless::kNone || raw.size() <= kPaddedTo + kCodedSizeBytes) return {};
  // Bodies are padded, raw ones too: the longest code worth sending leaves room for that.
  const auto owner = buffers.take(raw.size());
  const auto room = owner->first(raw.size() - kPaddedTo).subspan(kCodedSizeBytes);
  const std::size_t coded_bytes = coder.codecs.encode(codec, raw, room);
  if (coded_bytes == 0) return {};

  const auto size = static_cast<std::uint32_t>(coded_bytes);
  std::memcpy(owner->begin(), &size, kCodedSizeBytes);
  const std::size_t used_bytes = kCodedSizeBytes + coded_bytes;
  const std::size_t body_bytes = (used_bytes + kPaddedTo - 1) / kPaddedTo * kPaddedTo;
  const auto body = owner->first(body_bytes);
  std::ranges::fill(body.subspan(used_bytes), std::byte{0});
  return {owner, body, xxh3(body)};
}

SharedCode code_packet(const SharedPacket& packet, codec::Lossless codec, FragmentCoder& coder,
                       BufferPool& buffers) {
  auto code = std::make_shared<PacketCode>(packet, codec);
  for (std::size_t i = 0; i < code->size(); ++i) {
    code->fill(i, code_fragment(*packet, i, codec, coder, buffers));
  }
  return code;
}

}  // namespace wide::wire
