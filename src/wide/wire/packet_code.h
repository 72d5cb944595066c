#pragma once
// A packet's fragments, coded without loss with one codec. Made once per packet and codec, and
// shared by every link that sends the packet so: an update to a hundred nodes is coded once.
//
//   code_fragment(packet, 0, …) ─▶ fill(0, …) ─┐    in any order, by whoever has the time
//   code_fragment(packet, 1, …) ─▶ fill(1, …) ─┴─▶ the links' FrameWriters frame what is there
//
// code_fragment() only reads the packet, and may run on any thread with a FragmentCoder of its own;
// a PacketCode belongs to the thread that sends.

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "wide/base/buffer.h"
#include "wide/codec/lossless.h"
#include "wide/wire/message_codec.h"

namespace wide::wire {

using SharedPacket = std::shared_ptr<const Packet>;

// One fragment as it travels. Without bytes: it would not get shorter, and goes as it is.
struct CodedFragment {
  std::shared_ptr<const Buffer> owner;
  std::span<const std::byte> bytes;  // a frame's body: the code's size, the code, padding
  std::uint64_t xxh3 = 0;            // of bytes
};

// A thread's tools.
struct FragmentCoder {
  codec::LosslessCoder codecs{};
  std::vector<std::byte> joined{};  // room for a fragment that lies in several pieces
};

std::size_t fragment_count(const Packet& packet);
std::size_t fragment_bytes(const Packet& packet, std::size_t fragment);  // as it is

// The fragment in one piece: where it lies, or joined in `room`.
std::span<const std::byte> fragment_body(const Packet& packet, std::size_t fragment,
                                         std::vector<std::byte>& room);

CodedFragment code_fragment(const Packet& packet, std::size_t fragment, codec::Lossless codec,
                            FragmentCoder& coder, BufferPool& buffers);

class PacketCode final {
 public:
  PacketCode(SharedPacket packet, codec::Lossless codec)
      : packet_(std::move(packet)), codec_(codec), fragments_(fragment_count(*packet_)) {}

  void fill(std::size_t fragment, CodedFragment coded) { fragments_[fragment] = std::move(coded); }

  const SharedPacket& packet() const { return packet_; }
  codec::Lossless codec() const { return codec_; }
  std::size_t size() const { return fragments_.size(); }
  // Null: not there yet.
  const CodedFragment* find(std::size_t fragment) const {
    const auto& found = fragments_[fragment];
    return found ? &*found : nullptr;
  }

 private:
  SharedPacket packet_;
  codec::Lossless codec_;
  std::vector<std::optional<CodedFragment>> fragments_;
};

using SharedCode = std::shared_ptr<const PacketCode>;

// All of it at once, on the calling thread: for tests and simulations.
SharedCode code_packet(const SharedPacket& packet, codec::Lossless codec, FragmentCoder& coder,
                       BufferPool& buffers);

}  // namespace wide::wire
