#include "wide/wire/frame_writer.h"

#include <algorithm>

#include "wide/base/check.h"

namespace wide::wire {

namespace {
// Adds `bytes` less the first `skip_bytes`, which are counted down.
void add(Segments& segments, std::span<const std::byte> bytes, std::size_t& skip_bytes) {
  const std::size_t skipped = std::min(skip_bytes, bytes.size());
  skip_bytes -= skipped;
  if (skipped < bytes.size()) segments.push_back(bytes.subspan(skipped));
}
}  // namespace

// By a heartbeat: what may have to wait, for room on the line or for its code.
bool FrameWriter::Waiting::may_be_passed() const { return code || fragment_count(*packet) > 1; }

void FrameWriter::push(SharedPacket packet, SharedCode code) {
  WIDE_CHECK(packet && !packet->fragment_xxh3.empty(), "packets are made by encode()");
  WIDE_CHECK(!code || code->packet() == packet, "the code of another packet");
  queued_bytes_ += wire_bytes(*packet);
  Waiting last{std::move(packet), std::move(code), 0};
  const bool alone = framed_.empty() && waiting_.empty();
  if (alone && !last.may_be_passed()) {  // as most messages are
    make_frame(last);
    return;
  }
  if (last.packet->kind != Kind::kHeartbeat) return waiting_.push_back(std::move(last));
  waiting_.insert(std::ranges::find_if(waiting_, &Waiting::may_be_passed), std::move(last));
}

bool FrameWriter::blocked() const {
  return framed_.empty() && !waiting_.empty() && !waiting_.front().ready();
}

void FrameWriter::gather(Segments& segments, std::size_t segment_max) {
  WIDE_CHECK(segment_max > 0);
  make_frames(segment_max);  // all of them first: the segments point at their headers
  segments.clear();
  std::size_t skip_bytes = first_sent_bytes_;
  for (const Frame& frame : framed_) {
    add(segments, frame.header, skip_bytes);
    body_.clear();
    if (frame.coded.bytes.empty()) {
      add_body(*frame.packet, frame.body_begin, frame.body_end, body_);
    } else {
      body_.push_back(frame.coded.bytes);
    }
    for (const auto part : body_) add(segments, part, skip_bytes);
  }
  if (segments.size() > segment_max) segments.resize(segment_max);
}

// As many as one write takes.
void FrameWriter::make_frames(std::size_t segment_max) {
  std::size_t segment_count = 0;
  std::size_t bytes = 0;
  for (const Frame& frame : framed_) {
    segment_count += frame.segment_count_max();
    bytes += frame.bytes();
  }
  while (segment_count < segment_max && bytes < kFragmentBytes + first_sent_bytes_ &&
         !waiting_.empty() && waiting_.front().ready()) {
    if (make_frame(waiting_.front())) waiting_.pop_front();
    segment_count += framed_.back().segment_count_max();
    bytes += framed_.back().bytes();
  }
}

// True: it was the last one of this packet.
bool FrameWriter::make_frame(Waiting& next) {
  const std::size_t whole_bytes = body_bytes(*next.packet);
  const std::size_t begin = next.framed_bytes;
  const std::size_t end = std::min(begin + kFragmentBytes, whole_bytes);
  Frame frame{{}, next.packet, begin, end, {}};
  if (next.code) frame.coded = *next.code->find(next.fragment());
  const bool coded = !frame.coded.bytes.empty();

  Header header;
  header.kind = next.packet->kind;
  header.body_bytes = static_cast<std::uint32_t>(frame.body_bytes());
  header.raw_bytes = static_cast<std::uint32_t>(end - begin);
  header.sequence = sequence_++;
  header.codec = coded ? static_cast<std::uint8_t>(next.code->codec()) : 0;
  header.flags = end < whole_bytes ? kMoreFollows : 0;
  const std::uint64_t body_xxh3 =
      coded ? frame.coded.xxh3 : next.packet->fragment_xxh3[next.fragment()];
  frame.header = encode_header(header, body_xxh3);
  framed_.push_back(std::move(frame));
  queued_bytes_ -= header.raw_bytes - header.body_bytes;
  bytes_saved_ += header.raw_bytes - header.body_bytes;

  next.framed_bytes = end;
  return end == whole_bytes;
}

void FrameWriter::sent(std::size_t byte_count) {
  WIDE_CHECK(byte_count <= queued_bytes_);
  queued_bytes_ -= byte_count;
  bytes_sent_ += byte_count;
  first_sent_bytes_ += byte_count;
  auto whole = framed_.begin();
  for (; whole != framed_.end() && first_sent_bytes_ >= whole->bytes(); ++whole) {
    first_sent_bytes_ -= whole->bytes();
  }
  framed_.erase(framed_.begin(), whole);
  WIDE_CHECK(!framed_.empty() || first_sent_bytes_ == 0, "more was sent than gathered");
}

}  // namespace wide::wire
