#pragma once
// From messages to what one gathered write takes: a queue of packets for one link.
//
//   writer.push(packet)        at the end of the queue; heartbeats pass ahead of waiting fragments
//   writer.push(packet, code)  the same, coded: each fragment goes once its code is there
//   writer.gather(segments)    pointers to header, head, bulk, header, … of as many frames as fit
//   writer.sent(n)             n bytes of them are gone
//
// Packets are shared between links and never copied; only the 32-byte headers are made here. What
// was gathered stays where it is until gather() or sent() is called, however much is pushed;
// calling gather() again gives what is not sent of it, and more behind it. A fragment whose code is
// not there yet holds up what is behind it, heartbeats excepted: blocked() says that nothing can go
// before that changes.

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "wide/wire/message_codec.h"
#include "wide/wire/packet_code.h"

namespace wide::wire {

class FrameWriter final {
 public:
  void push(SharedPacket packet, SharedCode code = nullptr);

  // Replaces the contents of `segments` with at most `segment_max` runs of bytes, in order. Stops
  // after about kFragmentBytes, so that a heartbeat never waits behind more than that.
  void gather(Segments& segments, std::size_t segment_max = 64);
  void sent(std::size_t byte_count);

  bool empty() const { return queued_bytes_ == 0; }
  bool blocked() const;
  // Not yet sent, headers included. What has no frame yet counts as it is, coded or not.
  std::size_t queued_bytes() const { return queued_bytes_; }
  std::uint64_t bytes_sent() const { return bytes_sent_; }
  std::uint64_t bytes_saved() const { return bytes_saved_; }  // by codes, in frames made so far

 private:
  struct Waiting {
    SharedPacket packet;
    SharedCode code;
    std::size_t framed_bytes = 0;  // of its body: fragments before this have a header already

    std::size_t fragment() const { return framed_bytes / kFragmentBytes; }
    bool ready() const { return !code || code->find(fragment()) != nullptr; }
    bool may_be_passed() const;
  };
  // A header has been made, so its place in the sequence is fixed.
  struct Frame {
    HeaderBytes header;
    SharedPacket packet;
    std::size_t body_begin;
    std::size_t body_end;
    CodedFragment coded;  // with bytes: they go instead

    std::size_t body_bytes() const {
      return coded.bytes.empty() ? body_end - body_begin : coded.bytes.size();
    }
    std::size_t bytes() const { return kHeaderBytes + body_bytes(); }
    std::size_t segment_count_max() const {  // header, head, bulk, padding
      const bool bare = !coded.bytes.empty() || packet->bulk_bytes == 0;
      return bare ? 2 : 3 + packet->bulk.runs.size();
    }
  };

  void make_frames(std::size_t segment_max);
  bool make_frame(Waiting& next);

  std::deque<Waiting> waiting_;
  std::vector<Frame> framed_;         // their headers lie still between gather() and sent()
  std::size_t first_sent_bytes_ = 0;  // of framed_.front()
  std::size_t queued_bytes_ = 0;
  std::uint64_t bytes_sent_ = 0;
  std::uint64_t bytes_saved_ = 0;
  std::uint32_t sequence_ = 0;
  Segments body_;  // of the frame at hand; kept for its memory
};

}  // namespace wide::wire
