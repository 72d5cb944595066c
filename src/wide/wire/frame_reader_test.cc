#include "wide/wire/frame_reader.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>

#include "wide/wire/example_messages.h"
#include "wide/wire/frame_writer.h"

namespace wide::wire {
namespace {

using Stream = std::vector<std::byte>;

// What a link's writer makes of these messages.
Stream stream_of(const std::vector<Message>& messages) {
  FrameWriter writer;
  Stream stream;
  Segments segments;
  for (const Message& message : messages) {
    writer.push(std::make_shared<const Packet>(encode(message)));
  }
  while (!writer.empty()) {
    writer.gather(segments);
    std::size_t bytes = 0;
    for (const auto segment : segments) {
      stream.insert(stream.end(), segment.begin(), segment.end());
      bytes += segment.size();
    }
    writer.sent(bytes);
  }
  return stream;
}

struct Heard {
  std::vector<Message> messages;
  std::vector<std::size_t> message_bytes;
  std::string error;
};

// Feeds the reader at most chunk() bytes at a time and asks for messages after each.
template <class Chunk>
Heard feed(FrameReader& reader, std::span<const std::byte> stream, Chunk chunk) {
  Heard heard;
  while (!stream.empty()) {
    const auto space = reader.space();
    if (space.empty()) throw std::logic_error("no space");
    const auto part = stream.first(std::min({stream.size(), space.size(), std::size_t{chunk()}}));
    std::ranges::copy(part, space.begin());
    reader.filled(part.size());
    stream = stream.subspan(part.size());
    while (true) {
      auto message = reader.next();
      if (!message) heard.error = message.error().detail;
      if (!message || !*message) break;
      heard.messages.push_back(std::move(**message));
      heard.message_bytes.push_back(reader.last_message_bytes());
    }
    if (!heard.error.empty()) break;
  }
  return heard;
}

Heard feed(FrameReader& reader, std::span<const std::byte> stream) {
  return feed(reader, stream, [] { return SIZE_MAX; });
}

bool same(std::vector<Message>& x, std::vector<Message>& y) {
  return std::ranges::equal(x, y, [](Message& a, Message& b) { return example::same(a, b); });
}

class FrameReaderTest : public testing::Test {
 protected:
  std::string refusal(const Stream& stream, const Limits& limits) {
    FrameReader reader(pool_, limits);
    return feed(reader, stream).error;
  }
  Limits large_limits() {
    Limits limits = limits_;
    limits.state_count = 3 * kFragmentBytes / 4 + 3;
    return limits;
  }
  Message large_snapshot() {
    return Snapshot{1, 2, {}, example::floats(pool_, large_limits().state_count)};
  }

  BufferPool pool_;
  Limits limits_ = example::limits();
  FrameReader reader_{pool_, limits_};
};

TEST_F(FrameReaderTest, HearsEveryKind) {
  auto messages = example::messages(pool_, limits_);
  const Stream stream = stream_of(messages);

  Heard heard = feed(reader_, stream);

  EXPECT_EQ(heard.error, "");
  EXPECT_TRUE(same(heard.messages, messages));
  EXPECT_EQ(reader_.bytes_received(), stream.size());
  EXPECT_EQ(std::accumulate(heard.message_bytes.begin(), heard.message_bytes.end(), 0u),
            stream.size());
}

TEST_F(FrameReaderTest, SingleBytesGiveTheSameMessages) {
  auto messages = example::messages(pool_, limits_);

  Heard heard = feed(reader_, stream_of(messages), [] { return 1u; });

  EXPECT_EQ(heard.error, "");
  EXPECT_TRUE(same(heard.messages, messages));
}

RC_GTEST_FIXTURE_PROP(FrameReaderTest, AnyChunksOfAnyMessagesGiveTheSameMessages, ()) {
  Limits limits = limits_;
  limits.value_count = *rc::gen::inRange<std::uint64_t>(0, 6000);  // also larger than a drain
  limits.state_count = *rc::gen::inRange<std::uint64_t>(0, 40000);
  std::vector<Message> messages;
  const auto count = *rc::gen::inRange(1, 30);
  for (int i = 0; i < count; ++i) {
    auto all = example::messages(pool_, limits);
    messages.push_back(std::move(all[*rc::gen::inRange<std::size_t>(0, all.size())]));
  }
  const auto chunk_max = *rc::gen::element<std::size_t>(1, 7, 100, 5000, 70000);
  std::size_t turn = *rc::gen::inRange<std::size_t>(0, 1000);
  FrameReader reader(pool_, limits);

  Heard heard = feed(reader, stream_of(messages), [&] { return 1 + turn++ * 7919 % chunk_max; });

  RC_ASSERT(heard.error == "");
  RC_ASSERT(same(heard.messages, messages));
}

TEST_F(FrameReaderTest, ReadsALargeBodyInPlace) {
  Limits limits = limits_;
  limits.state_count = 50000;
  FrameReader reader(pool_, limits);
  const Stream stream = stream_of({Snapshot{1, 2, {}, example::floats(pool_, 50000)}});
  std::ranges::copy(std::span(stream).first(100), reader.space().begin());
  reader.filled(100);
  ASSERT_FALSE(reader.next()->has_value());

  const auto space = reader.space();
  ASSERT_EQ(space.size(), stream.size() - 100) << "all that is missing, at once";
  std::ranges::copy(std::span(stream).subspan(100), space.begin());
  reader.filled(space.size());

  const auto message = reader.next();
  const Floats& state = std::get<Snapshot>(**message).state;
  EXPECT_EQ(state.bytes().data() + state.bytes().size(), space.data() + space.size());
}

TEST_F(FrameReaderTest, JoinsFragmentsWithHeartbeatsBetween) {
  FrameWriter writer;
  Stream stream;
  Segments segments;
  writer.push(std::make_shared<const Packet>(encode(large_snapshot())));
  while (!writer.empty()) {  // a heartbeat after every fragment
    writer.gather(segments);
    std::size_t bytes = 0;
    for (const auto segment : segments) {
      stream.insert(stream.end(), segment.begin(), segment.end());
      bytes += segment.size();
    }
    writer.sent(bytes);
    if (bytes > kFragmentBytes)
      writer.push(std::make_shared<const Packet>(encode(Heartbeat{5, {}})));
  }
  const std::size_t heartbeat_bytes = wire_bytes(encode(Heartbeat{}));
  for (const std::size_t chunk : {std::size_t{1000}, std::size_t{65536}, SIZE_MAX}) {
    FrameReader reader(pool_, large_limits());

    Heard heard = feed(reader, stream, [&] { return chunk; });

    EXPECT_EQ(heard.error, "");
    ASSERT_EQ(heard.messages.size(), 4u);
    EXPECT_EQ(kind_of(heard.messages[0]), Kind::kHeartbeat);
    EXPECT_EQ(heard.message_bytes[0], heartbeat_bytes);
    Message expected = large_snapshot();
    EXPECT_TRUE(example::same(heard.messages[3], expected));
    EXPECT_EQ(heard.message_bytes[3], stream.size() - 3 * heartbeat_bytes);
  }
}

// A stream whose frames are made by hand; bodies are zeros.
class HandMade {
 public:
  HandMade& frame(Kind kind, std::size_t bytes, std::uint8_t flags = 0) {
    const Stream body(bytes);
    Header header;
    header.kind = kind;
    header.body_bytes = header.raw_bytes = static_cast<std::uint32_t>(bytes);
    header.sequence = sequence_++;
    header.flags = flags;
    const auto head = encode_header(header, xxh3(body));
    stream_.insert(stream_.end(), head.begin(), head.end());
    stream_.insert(stream_.end(), body.begin(), body.end());
    return *this;
  }
  const Stream& stream() const { return stream_; }

 private:
  Stream stream_;
  std::uint32_t sequence_ = 0;
};

TEST_F(FrameReaderTest, RefusesOtherMessagesBetweenFragments) {
  HandMade made;
  made.frame(Kind::kSnapshot, kFragmentBytes, kMoreFollows).frame(Kind::kWant, 8);

  EXPECT_EQ(refusal(made.stream(), large_limits()), "want between the fragments of a snapshot");
}

TEST_F(FrameReaderTest, RefusesFragmentsThatAddUpToTooMuch) {
  HandMade made;
  for (int i = 0; i < 4; ++i) made.frame(Kind::kSnapshot, kFragmentBytes, kMoreFollows);

  EXPECT_EQ(refusal(made.stream(), large_limits()), "body of 4194304 bytes, at most 3146000");
}

TEST_F(FrameReaderTest, LimitsOfAMessageUnderWayStay) {
  HandMade made;
  made.frame(Kind::kSnapshot, kFragmentBytes, kMoreFollows).frame(Kind::kSnapshot, kFragmentBytes);
  Limits limits = limits_;
  limits.state_count = kFragmentBytes / 4 + 1;
  FrameReader reader(pool_, limits);
  const auto stream = std::span(made.stream());
  ASSERT_EQ(feed(reader, stream.first(5000)).error, "");

  reader.set_limits(large_limits());

  EXPECT_EQ(feed(reader, stream.subspan(5000)).error, "body of 2097152 bytes, at most 1048840");
}

TEST_F(FrameReaderTest, RefusesATooLongBodyWhenItsHeaderIsSeen) {
  HandMade made;
  made.frame(Kind::kHello, kStrangerBytes + 8);
  const Stream header(made.stream().begin(), made.stream().begin() + kHeaderBytes);

  EXPECT_EQ(refusal(header, Limits::for_stranger()), "body of 4104 bytes, at most 4096");
}

TEST_F(FrameReaderTest, RefusesAKindsBodyOverTheJobsLimit) {
  HandMade made;
  made.frame(Kind::kWant, 1000);

  EXPECT_EQ(refusal(made.stream(), limits_), "body of 1000 bytes, at most 256");
}

TEST_F(FrameReaderTest, RefusesAStrangersFragments) {
  HandMade made;
  made.frame(Kind::kSnapshot, kFragmentBytes, kMoreFollows);

  EXPECT_EQ(refusal(made.stream(), Limits::for_stranger()), "body of 1048576 bytes, at most 4096");
}

TEST_F(FrameReaderTest, RefusesARepeatedOrSkippedFrame) {
  const Stream one = stream_of({Want{1}});
  Stream twice = one;
  twice.insert(twice.end(), one.begin(), one.end());

  EXPECT_EQ(refusal(twice, limits_), "sequence 0, expected 1");
}

TEST_F(FrameReaderTest, NoticesEveryFlippedBit) {
  const Stream good =
      stream_of({Update{1, 2, {}, as_they_are(example::floats(pool_, 5))}, Heartbeat{1, {}}});
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    Stream bad = good;
    bad[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    FrameReader reader(pool_, limits_);

    const Heard heard = feed(reader, bad);

    // A length may be changed so that the rest is waited for; no damaged message comes through.
    EXPECT_TRUE(!heard.error.empty() || heard.messages.size() < 2) << "bit " << bit;
    EXPECT_LE(heard.messages.size(),
              bit / 8 < good.size() - wire_bytes(encode(Heartbeat{})) ? 0u : 1u)
        << "bit " << bit;
  }
}

TEST_F(FrameReaderTest, RefusesATruncatedBodyWithAGoodChecksum) {
  HandMade made;
  made.frame(Kind::kLease, 24);

  EXPECT_EQ(refusal(made.stream(), limits_), "lease: ends too early");
}

TEST_F(FrameReaderTest, StaysFailed) {
  const std::string page = "GET / HTTP/1.1\r\nHost: example.org\r\n\r\n";
  ASSERT_EQ(feed(reader_, std::as_bytes(std::span(page))).error, "not a wide frame");

  const auto again = reader_.next();

  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Errc::kBadFrame);
}

TEST_F(FrameReaderTest, LimitsHoldFromTheNextMessageOn) {
  const Stream stream =
      stream_of({Hello{}, Update{1, 2, {}, as_they_are(example::floats(pool_, 5))}});
  FrameReader reader(pool_, Limits::for_stranger());
  std::ranges::copy(stream, reader.space().begin());
  reader.filled(stream.size());
  ASSERT_TRUE(reader.next()->has_value());

  reader.set_limits(limits_);

  const auto update = reader.next();
  ASSERT_TRUE(update) << update.error().detail;
  EXPECT_EQ(std::get<Update>(**update).values.bytes.size(), 20u);
}

TEST_F(FrameReaderTest, AQuietLinkOffersLittleRoomABusyOneMuch) {
  EXPECT_EQ(reader_.space().size(), 4096u);

  const Stream many = stream_of(std::vector<Message>(2000, Want{1}));
  EXPECT_EQ(feed(reader_, many, [] { return SIZE_MAX; }).messages.size(), 2000u);
  FrameReader busy(pool_, limits_);
  std::ranges::copy(std::span(many).first(4096), busy.space().begin());
  busy.filled(4096);
  while (busy.next()->has_value()) continue;
  EXPECT_GT(busy.space().size(), 60000u);

  std::ranges::copy(std::span(many).subspan(4096, 64), busy.space().begin());
  busy.filled(64);
  while (busy.next()->has_value()) continue;
  EXPECT_LE(busy.space().size(), 4096u);
}

}  // namespace
}  // namespace wide::wire
