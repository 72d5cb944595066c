#pragma once
// From a stream of bytes to whole messages, filled in place.
//
//   reader.space()   where the next bytes belong: the drain buffer while headers and small bodies
//                    come, the message's own buffer inside a large one (read without a copy)
//   reader.filled(n) n bytes were put there
//   reader.next()    the next whole message, nothing yet, or why the link must be closed
//
// One read may bring many frames: call next() until it has nothing; then space() is never empty. A
// frame is checked (header, limits, checksum, sequence) before its message is decoded. Memory is
// bounded by the limits.
//
//   drain    [ header | body | header | body | header | bo…    ]   4 KiB on a quiet link, 64 KiB
//                                                                  while reads fill it
//   coded    [ a code that is not all here                     ]   one fragment, while it comes
//   message  [ fragment 0 | fragment 1 | fragm…                ]
//
// A message without a bulk is decoded where it lies in the drain; one with a bulk moves to a buffer
// of its own, which the bulk then keeps. A coded fragment is decoded straight into that buffer, on
// the thread that reads; a stranger's is refused, so that no codec ever sees what strangers send.

#include <cstdint>
#include <optional>
#include <span>

#include "wide/base/buffer.h"
#include "wide/base/clock.h"
#include "wide/base/error.h"
#include "wide/wire/frame.h"
#include "wide/wire/message_codec.h"

namespace wide::wire {

class FrameReader final {
 public:
  using Clock = Time (*)();

  // `clock` times the decoding of codes; without one nobody wants to know.
  FrameReader(BufferPool& buffers, Limits limits, Clock clock = nullptr);

  std::span<std::byte> space();
  void filled(std::size_t byte_count);
  // After an error: the same error again.
  Result<std::optional<Message>> next();

  // After the hello, or once the job is known. Holds from the next message on.
  void set_limits(const Limits& limits) { limits_ = limits; }

  std::uint64_t bytes_received() const { return bytes_received_; }
  // Of the message that next() just returned; headers included.
  std::size_t last_message_bytes() const { return last_message_bytes_; }
  // What its codes saved of them.
  std::size_t last_message_saved() const { return last_message_saved_; }
  Duration decode_span() const { return decode_span_; }  // in all

 private:
  using Body = std::span<const std::byte>;
  using MaybeMessage = Result<std::optional<Message>>;

  // What has come of a message that has its own buffer.
  struct Assembly {
    BufferPtr buffer;
    Kind kind = Kind::kHeartbeat;
    std::size_t bytes = 0;  // whole fragments
    std::size_t bytes_max = 0;
    std::size_t frame_count = 0;
    std::size_t saved_bytes = 0;  // by codes
  };

  MaybeMessage advance();
  Result<bool> see_header();  // false: not all here
  std::optional<Error> header_problem(const Header& header) const;
  void choose_place();
  bool body_is_here() const;
  MaybeMessage message_in_drain(Kind kind, Body body);
  Body arrived_body() const;
  Result<void> add_fragment(const Header& header, Body body, bool in_place);
  Result<void> decode_code(const Header& header, Body body);
  MaybeMessage whole_message();
  MaybeMessage decoded(Kind kind, Body body, const BufferPtr& owner, std::size_t wire_bytes);

  bool assembling() const { return assembly_.frame_count > 0; }
  bool continues(Kind kind) const { return assembling() && kind == assembly_.kind; }
  void start_assembly(const Header& header);
  std::byte* in_place_begin() const;
  std::size_t drained_bytes() const { return drain_end_ - drain_begin_; }
  void make_drain();
  void consume(std::size_t byte_count);

  BufferPool& buffers_;
  Limits limits_;

  BufferPtr drain_;  // null while there is nothing in it and it would be large
  std::size_t drain_begin_ = 0;
  std::size_t drain_end_ = 0;
  bool busy_ = false;  // the last read filled the drain: a larger one saves reads

  std::optional<Header> header_;  // of the frame under way
  HeaderBytes header_bytes_{};
  bool in_place_ = false;           // its body goes straight to assembly_, or to coded_
  std::size_t in_place_bytes_ = 0;  // of its body, so far
  BufferPtr coded_;                 // null but for a code that comes in pieces
  Assembly assembly_;

  std::uint32_t sequence_ = 0;  // expected next
  std::uint64_t bytes_received_ = 0;
  std::size_t last_message_bytes_ = 0;
  std::size_t last_message_saved_ = 0;
  Clock clock_ = nullptr;
  Duration decode_span_{};
  std::optional<Error> failed_;
};

}  // namespace wide::wire
