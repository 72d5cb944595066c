#include "wide/wire/frame_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "wide/base/check.h"
#include "wide/base/digest.h"
#include "wide/codec/lossless.h"

namespace wide::wire {

namespace {
constexpr std::size_t kQuietDrainBytes = 4096;
constexpr std::size_t kBusyDrainBytes = 64 << 10;

// A larger body that is not all here is read in place. It must fit the smaller drain.
constexpr std::size_t kDrainedBodyBytesMax = kQuietDrainBytes;

tl::unexpected<Error> bad_frame(std::string detail) {
  return fail(Errc::kBadFrame, std::move(detail));
}

// Its contexts are large, and an idle link must be small: one for all links of a thread.
codec::LosslessCoder& coder_of_this_thread() {
  thread_local codec::LosslessCoder coder;
  return coder;
}

// The code inside a coded frame's body, or nothing where its size or padding is wrong.
std::optional<std::span<const std::byte>> code_in(std::span<const std::byte> body) {
  std::uint32_t coded_bytes = 0;
  std::memcpy(&coded_bytes, body.data(), kCodedSizeBytes);
  const auto rest = body.subspan(kCodedSizeBytes);
  if (coded_bytes == 0 || coded_bytes > rest.size() || rest.size() - coded_bytes > 7) return {};
  const auto padding = rest.subspan(coded_bytes);
  if (std::ranges::any_of(padding, [](std::byte b) { return b != std::byte{0}; })) return {};
  return rest.first(coded_bytes);
}
}  // namespace

FrameReader::FrameReader(BufferPool& buffers, Limits limits, Clock clock)
    : buffers_(buffers), limits_(limits), clock_(clock) {}

std::span<std::byte> FrameReader::space() {
  if (in_place_) return {in_place_begin() + in_place_bytes_, header_->body_bytes - in_place_bytes_};
  make_drain();
  return drain_->first(drain_->capacity_bytes()).subspan(drain_end_);
}

std::byte* FrameReader::in_place_begin() const {
  return coded_ ? coded_->begin() : assembly_.buffer->begin() + assembly_.bytes;
}

// What is left of the last read moves to the front; it is little, or the drain is new.
void FrameReader::make_drain() {
  const std::size_t wanted_bytes = busy_ ? kBusyDrainBytes : kQuietDrainBytes;
  if (drain_ && drain_->capacity_bytes() >= wanted_bytes) {
    if (drain_begin_ > 0)
      std::memmove(drain_->begin(), drain_->begin() + drain_begin_, drained_bytes());
  } else {
    BufferPtr larger = buffers_.take(wanted_bytes);
    if (drain_) std::memcpy(larger->begin(), drain_->begin() + drain_begin_, drained_bytes());
    drain_ = std::move(larger);
  }
  drain_end_ = drained_bytes();
  drain_begin_ = 0;
}

void FrameReader::filled(std::size_t byte_count) {
  bytes_received_ += byte_count;
  if (in_place_) {
    in_place_bytes_ += byte_count;
    WIDE_CHECK(in_place_bytes_ <= header_->body_bytes);
    return;
  }
  if (byte_count == 0) return;
  WIDE_CHECK(drain_ && byte_count <= drain_->capacity_bytes() - drain_end_);
  drain_end_ += byte_count;
  if (drain_end_ == drain_->capacity_bytes()) {
    busy_ = true;
  } else if (byte_count < kQuietDrainBytes) {
    busy_ = false;
  }
}

void FrameReader::consume(std::size_t byte_count) {
  drain_begin_ += byte_count;
  if (drain_begin_ < drain_end_ || !drain_) return;
  drain_begin_ = drain_end_ = 0;
  if (!busy_ && drain_->capacity_bytes() > kQuietDrainBytes) drain_.reset();
}

Result<std::optional<Message>> FrameReader::next() {
  if (failed_) return tl::unexpected<Error>(*failed_);
  auto message = advance();
  if (!message) failed_ = message.error();
  return message;
}

// Messages are made where the caller wants them, and not moved on the way.
FrameReader::MaybeMessage FrameReader::advance() {
  while (true) {
    if (!header_) {
      const auto seen = see_header();
      if (!seen) return tl::unexpected<Error>(seen.error());
      if (!*seen) return std::nullopt;
    }
    if (!body_is_here()) return std::nullopt;
    const Body body = arrived_body();
    const bool in_place = std::exchange(in_place_, false);
    const Header header = *std::exchange(header_, std::nullopt);
    if (!checksum_fits(header_bytes_, xxh3(body))) return bad_frame("checksum differs");

    const bool whole_here = header.flags == 0 && !in_place && !continues(header.kind);
    if (whole_here && header.codec == 0 && !has_bulk(header.kind)) {
      return message_in_drain(header.kind, body);
    }
    if (auto added = add_fragment(header, body, in_place); !added) {
      return tl::unexpected<Error>(std::move(added.error()));
    }
    if (header.flags != kMoreFollows) return whole_message();
  }
}

Result<bool> FrameReader::see_header() {
  if (drained_bytes() < kHeaderBytes) return false;
  std::memcpy(header_bytes_.data(), drain_->begin() + drain_begin_, kHeaderBytes);
  auto header = decode_header(header_bytes_);
  if (!header) return tl::unexpected<Error>(std::move(header.error()));
  if (auto problem = header_problem(*header)) return tl::unexpected<Error>(std::move(*problem));
  header_ = *header;
  ++sequence_;
  consume(kHeaderBytes);
  choose_place();
  return true;
}

std::optional<Error> FrameReader::header_problem(const Header& header) const {
  const auto bad = [](std::string detail) { return Error{Errc::kBadFrame, std::move(detail)}; };
  if (header.codec != 0 && limits_.stranger) return bad("a coded frame before a valid hello");
  if (header.sequence != sequence_) {
    return bad(fmt::format("sequence {}, expected {}", header.sequence, sequence_));
  }
  const bool continued = continues(header.kind);
  if (assembling() && !continued && header.kind != Kind::kHeartbeat) {
    return bad(fmt::format("{} between the fragments of a {}", kind_name(header.kind),
                           kind_name(assembly_.kind)));
  }
  const std::size_t bytes_max =
      continued ? assembly_.bytes_max : limits_.body_bytes_max(header.kind);
  const std::size_t bytes = (continued ? assembly_.bytes : 0) + header.raw_bytes;
  if (bytes > bytes_max) return bad(fmt::format("body of {} bytes, at most {}", bytes, bytes_max));
  return std::nullopt;
}

void FrameReader::choose_place() {
  const std::size_t here_bytes = drained_bytes();
  in_place_ = here_bytes < header_->body_bytes &&
              (header_->body_bytes > kDrainedBodyBytesMax || continues(header_->kind));
  if (!in_place_) return;
  if (header_->codec != 0) {
    coded_ = buffers_.take(header_->body_bytes);
  } else {
    start_assembly(*header_);
  }
  in_place_bytes_ = here_bytes;
  if (here_bytes == 0) return;
  std::memcpy(in_place_begin(), drain_->begin() + drain_begin_, here_bytes);
  consume(here_bytes);
}

// A message in fragments gets room for the longest of its kind: its length is not known yet.
void FrameReader::start_assembly(const Header& header) {
  if (assembly_.buffer) return;
  const bool more = header.flags == kMoreFollows;
  const std::size_t bytes_max = more ? limits_.body_bytes_max(header.kind) : header.raw_bytes;
  assembly_ = {buffers_.take(bytes_max), header.kind, 0, bytes_max, 0, 0};
}

bool FrameReader::body_is_here() const {
  return (in_place_ ? in_place_bytes_ : drained_bytes()) >= header_->body_bytes;
}

FrameReader::Body FrameReader::arrived_body() const {
  const std::byte* begin = in_place_ ? in_place_begin()
                           : drain_  ? drain_->begin() + drain_begin_
                                     : nullptr;
  return {begin, header_->body_bytes};
}

FrameReader::MaybeMessage FrameReader::message_in_drain(Kind kind, Body body) {
  struct Consumed {
    FrameReader& reader;
    std::size_t bytes;
    ~Consumed() { reader.consume(bytes); }
  } const once_decoded{*this, body.size()};
  last_message_saved_ = 0;
  return decoded(kind, body, nullptr, kHeaderBytes + body.size());
}

Result<void> FrameReader::add_fragment(const Header& header, Body body, bool in_place) {
  start_assembly(header);
  if (header.codec != 0) {
    if (auto done = decode_code(header, body); !done) return done;
  } else if (!in_place) {
    std::ranges::copy(body, assembly_.buffer->begin() + assembly_.bytes);
  }
  if (!in_place) consume(body.size());
  coded_.reset();
  assembly_.bytes += header.raw_bytes;
  assembly_.saved_bytes += header.raw_bytes - header.body_bytes;
  ++assembly_.frame_count;
  return {};
}

Result<void> FrameReader::decode_code(const Header& header, Body body) {
  const auto code = code_in(body);
  if (!code) return bad_frame("a code's size or padding is wrong");
  const auto place = assembly_.buffer->first(assembly_.bytes + header.raw_bytes);
  const Time began = clock_ != nullptr ? clock_() : Time{};
  auto done = coder_of_this_thread().decode(static_cast<codec::Lossless>(header.codec), *code,
                                            place.subspan(assembly_.bytes));
  if (clock_ != nullptr) decode_span_ += clock_() - began;
  return done;
}

FrameReader::MaybeMessage FrameReader::whole_message() {
  const Assembly whole = std::exchange(assembly_, {});
  const Body body(whole.buffer->begin(), whole.bytes);
  last_message_saved_ = whole.saved_bytes;
  return decoded(whole.kind, body, whole.buffer,
                 whole.bytes - whole.saved_bytes + kHeaderBytes * whole.frame_count);
}

FrameReader::MaybeMessage FrameReader::decoded(Kind kind, Body body, const BufferPtr& owner,
                                               std::size_t wire_bytes) {
  auto message = decode(kind, body, owner, limits_);
  if (!message) return tl::unexpected<Error>(std::move(message.error()));
  last_message_bytes_ = wire_bytes;
  return MaybeMessage(tl::in_place, std::move(*message));
}

}  // namespace wide::wire
