#include "wide/wire/frame_writer.h"

#include <gtest/gtest.h>

#include "wide/wire/example_messages.h"

namespace wide::wire {
namespace {

SharedPacket shared(Message message) {
  return std::make_shared<const Packet>(encode(std::move(message)));
}

std::size_t bytes_of(const Segments& segments) {
  std::size_t bytes = 0;
  for (const auto segment : segments) bytes += segment.size();
  return bytes;
}

// Everything that waits, gathered `segment_max` segments and sent `chunk_bytes` bytes at a time.
std::vector<std::byte> send_all(FrameWriter& writer, std::size_t segment_max = 64,
                                std::size_t chunk_bytes = SIZE_MAX) {
  std::vector<std::byte> stream;
  Segments segments;
  while (!writer.empty()) {
    writer.gather(segments, segment_max);
    EXPECT_FALSE(segments.empty());
    EXPECT_LE(segments.size(), segment_max);
    const std::size_t sent_bytes = std::min(chunk_bytes, bytes_of(segments));
    std::size_t left = sent_bytes;
    for (const auto segment : segments) {
      const auto taken = segment.first(std::min(left, segment.size()));
      stream.insert(stream.end(), taken.begin(), taken.end());
      left -= taken.size();
    }
    writer.sent(sent_bytes);
  }
  return stream;
}

// The headers of a stream, in order.
std::vector<Header> headers_of(std::span<const std::byte> stream) {
  std::vector<Header> headers;
  while (!stream.empty()) {
    headers.push_back(*decode_header(stream.first<kHeaderBytes>()));
    stream = stream.subspan(kHeaderBytes + headers.back().body_bytes);
  }
  return headers;
}

class FrameWriterTest : public testing::Test {
 protected:
  // Longer than two fragments.
  SharedPacket snapshot() {
    return shared(Snapshot{1, 2, {}, example::floats(pool_, 2 * kFragmentBytes / 4 + 1)});
  }

  BufferPool pool_;
  FrameWriter writer_;
  Segments segments_;
};

TEST_F(FrameWriterTest, IsEmptyAtFirst) {
  writer_.gather(segments_);

  EXPECT_TRUE(writer_.empty());
  EXPECT_TRUE(segments_.empty());
}

TEST_F(FrameWriterTest, PointsAtThePacketWithoutCopying) {
  const auto packet = shared(Update{1, 2, {}, as_they_are(example::floats(pool_, 5))});
  writer_.push(packet);

  writer_.gather(segments_);

  ASSERT_EQ(segments_.size(), 4u) << "header, head, bulk, padding";
  EXPECT_EQ(segments_[1].data(), packet->head.data());
  EXPECT_EQ(segments_[2].data(), packet->bulk.joined().data());
  EXPECT_EQ(segments_[3].size(), 4u);
}

TEST_F(FrameWriterTest, GathersManySmallFramesAtOnce) {
  for (int i = 0; i < 10; ++i) writer_.push(shared(Want{1}));

  writer_.gather(segments_);

  EXPECT_EQ(segments_.size(), 20u);
  EXPECT_EQ(bytes_of(segments_), writer_.queued_bytes());
}

TEST_F(FrameWriterTest, GathersAgainWhatIsNotSentAndWhatCameBehindIt) {
  writer_.push(shared(Want{1}));
  writer_.gather(segments_);
  const std::size_t first_bytes = bytes_of(segments_);
  for (std::uint32_t i = 2; i <= 20; ++i) writer_.push(shared(Want{i}));

  writer_.gather(segments_);
  EXPECT_EQ(bytes_of(segments_), 20 * first_bytes);
  writer_.sent(first_bytes + 3);

  const auto rest = send_all(writer_);
  EXPECT_EQ(rest.size(), 19 * first_bytes - 3);
  const auto whole = std::span(rest).subspan(first_bytes - 3);
  EXPECT_EQ(headers_of(whole).size(), 18u);
}

TEST_F(FrameWriterTest, CountsWhatIsQueuedAndSent) {
  writer_.push(shared(Want{1}));
  EXPECT_EQ(writer_.queued_bytes(), 40u);

  writer_.gather(segments_);
  writer_.sent(33);

  EXPECT_EQ(writer_.queued_bytes(), 7u);
  EXPECT_EQ(writer_.bytes_sent(), 33u);
  EXPECT_FALSE(writer_.empty());
}

TEST_F(FrameWriterTest, PacketsMayBeSharedByLinks) {
  FrameWriter other;
  const auto packet = shared(Update{1, 2, {}, as_they_are(example::floats(pool_, 5))});
  other.push(shared(Want{1}));
  send_all(other);
  writer_.push(packet);
  other.push(packet);

  const auto first = send_all(writer_);
  const auto second = send_all(other);

  EXPECT_EQ(headers_of(first)[0].sequence, 0u);
  EXPECT_EQ(headers_of(second)[0].sequence, 1u);
  EXPECT_TRUE(std::ranges::equal(std::span(first).subspan(kHeaderBytes),
                                 std::span(second).subspan(kHeaderBytes)));
}

TEST_F(FrameWriterTest, CutsALongMessage) {
  const auto packet = snapshot();
  writer_.push(packet);
  writer_.push(shared(Want{1}));
  EXPECT_EQ(writer_.queued_bytes(), wire_bytes(*packet) + 40);

  const auto headers = headers_of(send_all(writer_));

  ASSERT_EQ(headers.size(), 4u);
  EXPECT_EQ(headers[0].body_bytes, kFragmentBytes);
  EXPECT_EQ(headers[0].flags, kMoreFollows);
  EXPECT_EQ(headers[1].flags, kMoreFollows);
  EXPECT_EQ(headers[2].body_bytes, 56u + 8u);
  EXPECT_EQ(headers[2].flags, 0);
  EXPECT_EQ(headers[3].kind, Kind::kWant);
  EXPECT_EQ(headers[3].sequence, 3u);
}

TEST_F(FrameWriterTest, AHeartbeatPassesWaitingFragmentsOnly) {
  writer_.push(shared(Hello{}));
  writer_.push(snapshot());
  writer_.push(shared(Heartbeat{}));

  const auto headers = headers_of(send_all(writer_));

  EXPECT_EQ(headers[0].kind, Kind::kHello);
  EXPECT_EQ(headers[1].kind, Kind::kHeartbeat);
  EXPECT_EQ(headers[2].kind, Kind::kSnapshot);
}

TEST_F(FrameWriterTest, AHeartbeatGoesBetweenFragments) {
  writer_.push(snapshot());
  writer_.gather(segments_);
  EXPECT_EQ(bytes_of(segments_), kHeaderBytes + kFragmentBytes) << "no more than one at a time";
  writer_.push(shared(Heartbeat{}));

  const auto headers = headers_of(send_all(writer_));

  ASSERT_EQ(headers.size(), 4u);
  EXPECT_EQ(headers[1].kind, Kind::kHeartbeat);
  EXPECT_EQ(headers[2].kind, Kind::kSnapshot);
  EXPECT_EQ(headers[2].sequence, 2u);
}

TEST_F(FrameWriterTest, AnyPartialSendsGiveTheSameStream) {
  const auto stream = [this](std::size_t segment_max, std::size_t chunk_bytes) {
    FrameWriter writer;
    for (auto& message : example::messages(pool_, example::limits())) writer.push(shared(message));
    return send_all(writer, segment_max, chunk_bytes);
  };
  const auto whole = stream(64, SIZE_MAX);

  EXPECT_EQ(stream(1, SIZE_MAX), whole);
  EXPECT_EQ(stream(3, 5), whole);
  EXPECT_EQ(stream(64, 1), whole);
}

}  // namespace
}  // namespace wide::wire
