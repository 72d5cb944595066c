#include "wide/wire/packet_code.h"

#include <gtest/gtest.h>

#include <cstring>

#include "wide/base/digest.h"
#include "wide/wire/example_messages.h"
#include "wide/wire/frame_reader.h"
#include "wide/wire/frame_writer.h"

namespace wide::wire {
namespace {

using codec::Lossless;
using Stream = std::vector<std::byte>;

constexpr Lossless kCoding[] = {Lossless::kLz4, Lossless::kZstd, Lossless::kZlib, Lossless::kZlib9,
                                Lossless::kPlanes};

SharedPacket shared(Message message) {
  return std::make_shared<const Packet>(encode(std::move(message)));
}

Stream sent_by(FrameWriter& writer) {
  Stream stream;
  Segments segments;
  while (!writer.empty() && !writer.blocked()) {
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
  std::size_t saved_bytes = 0;
  std::string error;
};

Heard feed(FrameReader& reader, std::span<const std::byte> stream, std::size_t chunk_bytes) {
  Heard heard;
  while (!stream.empty() && heard.error.empty()) {
    const auto space = reader.space();
    const auto part = stream.first(std::min({stream.size(), space.size(), chunk_bytes}));
    std::ranges::copy(part, space.begin());
    reader.filled(part.size());
    stream = stream.subspan(part.size());
    while (true) {
      auto message = reader.next();
      if (!message) heard.error = message.error().detail;
      if (!message || !*message) break;
      heard.messages.push_back(std::move(**message));
      heard.saved_bytes += reader.last_message_saved();
    }
  }
  return heard;
}

std::vector<Header> headers_of(std::span<const std::byte> stream) {
  std::vector<Header> headers;
  while (!stream.empty()) {
    headers.push_back(*decode_header(stream.first<kHeaderBytes>()));
    stream = stream.subspan(kHeaderBytes + headers.back().body_bytes);
  }
  return headers;
}

class PacketCodeTest : public testing::Test {
 protected:
  // Floats that every codec makes fewer bytes of.
  Message snapshot(std::size_t count) {
    const Floats state = take_floats(pool_, count);
    for (std::size_t i = 0; i < count; ++i) state.values[i] = static_cast<float>(i % 1000);
    return Snapshot{1, 2, {}, state};
  }
  Limits limits(std::size_t state_count) {
    Limits limits = example::limits();
    limits.state_count = state_count;
    return limits;
  }
  SharedCode coded(const SharedPacket& packet, Lossless codec) {
    return code_packet(packet, codec, coder_, pool_);
  }
  // A snapshot of so many floats, coded, as a stream.
  Stream stream_of(std::size_t count, Lossless codec) {
    FrameWriter writer;
    const auto packet = shared(snapshot(count));
    writer.push(packet, coded(packet, codec));
    return sent_by(writer);
  }

  BufferPool pool_;
  FragmentCoder coder_;
};

constexpr std::size_t kFragmentFloats = kFragmentBytes / sizeof(float);

TEST_F(PacketCodeTest, EveryCodecAndFragmentCountGivesTheSameMessage) {
  for (const Lossless codec : kCoding) {
    for (const std::size_t count : {std::size_t{400}, std::size_t{3001}, kFragmentFloats - 14,
                                    kFragmentFloats, 3 * kFragmentFloats + 77}) {
      FrameWriter writer;
      Message expected = snapshot(count);
      const auto packet = shared(snapshot(count));
      writer.push(shared(Want{1}));
      writer.push(packet, coded(packet, codec));
      writer.push(shared(Want{2}));
      const Stream stream = sent_by(writer);
      for (const std::size_t chunk_bytes : {std::size_t{777}, SIZE_MAX}) {
        FrameReader reader(pool_, limits(count));

        Heard heard = feed(reader, stream, chunk_bytes);

        ASSERT_EQ(heard.error, "") << codec::lossless_name(codec) << " " << count;
        ASSERT_EQ(heard.messages.size(), 3u);
        EXPECT_TRUE(example::same(heard.messages[1], expected));
        EXPECT_EQ(heard.saved_bytes, wire_bytes(*packet) + 80 - stream.size());
        EXPECT_EQ(writer.bytes_saved(), heard.saved_bytes);
        EXPECT_GT(heard.saved_bytes, 0u);
      }
    }
  }
}

TEST_F(PacketCodeTest, HeadersTellRawSizesAndTheCodec) {
  const auto headers = headers_of(stream_of(kFragmentFloats + 500, Lossless::kZstd));

  ASSERT_EQ(headers.size(), 2u);
  EXPECT_EQ(headers[0].codec, 2);
  EXPECT_EQ(headers[0].raw_bytes, kFragmentBytes);
  EXPECT_EQ(headers[0].flags, kMoreFollows);
  EXPECT_LT(headers[0].body_bytes, headers[0].raw_bytes);
  EXPECT_EQ(headers[1].raw_bytes, 2000u + 56);
  EXPECT_EQ(headers[1].flags, 0);
}

TEST_F(PacketCodeTest, WhatGetsNoShorterGoesAsItIs) {
  const Floats noise = take_floats(pool_, kFragmentFloats + 500);
  std::uint32_t word = 1;
  for (float& value : noise.values) {
    word = word * 1664525 + 1013904223;
    std::memcpy(&value, &word, sizeof(value));
  }
  FrameWriter writer;
  const auto packet = shared(Snapshot{1, 2, {}, noise});
  writer.push(packet, coded(packet, Lossless::kLz4));

  const Stream stream = sent_by(writer);

  EXPECT_EQ(stream.size(), wire_bytes(*packet));
  for (const Header& header : headers_of(stream)) EXPECT_EQ(header.codec, 0);
}

TEST_F(PacketCodeTest, AFragmentThatIsNotReadyBlocksAllButHeartbeats) {
  const auto packet = shared(snapshot(2 * kFragmentFloats));
  const auto code = std::make_shared<PacketCode>(packet, Lossless::kLz4);
  FrameWriter writer;
  writer.push(packet, code);
  writer.push(shared(Want{1}));
  EXPECT_TRUE(writer.blocked());
  EXPECT_EQ(writer.queued_bytes(), wire_bytes(*packet) + 40);

  writer.push(shared(Heartbeat{1, {}}));
  EXPECT_FALSE(writer.blocked());
  EXPECT_EQ(headers_of(sent_by(writer)).size(), 1u);
  EXPECT_TRUE(writer.blocked());

  code->fill(1, code_fragment(*packet, 1, Lossless::kLz4, coder_, pool_));
  EXPECT_TRUE(writer.blocked()) << "the first is still missing";
  code->fill(0, code_fragment(*packet, 0, Lossless::kLz4, coder_, pool_));
  EXPECT_EQ(headers_of(sent_by(writer)).size(), 2u);
  EXPECT_TRUE(writer.blocked()) << "the last";

  code->fill(2, {});  // as it is
  const auto headers = headers_of(sent_by(writer));
  ASSERT_EQ(headers.size(), 2u);
  EXPECT_EQ(headers[0].codec, 0);
  EXPECT_EQ(headers[1].kind, Kind::kWant);
  EXPECT_EQ(headers[1].sequence, 4u);
  EXPECT_TRUE(writer.empty());
}

TEST_F(PacketCodeTest, OneCodeServesManyLinks) {
  const auto packet = shared(snapshot(kFragmentFloats + 1));
  const auto code = coded(packet, Lossless::kPlanes);
  FrameWriter first, second;
  second.push(shared(Want{1}));
  const auto before = sent_by(second);
  first.push(packet, code);
  second.push(packet, code);

  const Stream one = sent_by(first);
  const Stream two = sent_by(second);

  EXPECT_EQ(one.size(), two.size());
  EXPECT_EQ(headers_of(one)[0].sequence, 0u);
  EXPECT_EQ(headers_of(two)[0].sequence, 1u);
}

// A coded frame whose header and body say what they should not.
class BadCode : public PacketCodeTest {
 protected:
  void SetUp() override {
    const Stream stream = stream_of(kCount, Lossless::kLz4);
    header_ = headers_of(stream)[0];
    body_.assign(stream.begin() + kHeaderBytes, stream.end());
  }
  std::string refusal() { return refusal(limits(kCount)); }
  std::string refusal(const Limits& limits) {
    header_.body_bytes = static_cast<std::uint32_t>(body_.size());
    const auto head = encode_header(header_, xxh3(body_));
    Stream stream(head.begin(), head.end());
    stream.insert(stream.end(), body_.begin(), body_.end());
    FrameReader whole(pool_, limits);
    FrameReader pieces(pool_, limits);
    const Heard heard = feed(whole, stream, SIZE_MAX);
    EXPECT_EQ(feed(pieces, stream, 100).error, heard.error);
    EXPECT_EQ(heard.messages.empty(), !heard.error.empty());
    return heard.error;
  }
  std::uint32_t coded_bytes() const {
    std::uint32_t bytes;
    std::memcpy(&bytes, body_.data(), 4);
    return bytes;
  }
  void set_coded_bytes(std::uint32_t bytes) { std::memcpy(body_.data(), &bytes, 4); }

  static constexpr std::size_t kCount = 5000;
  Header header_;
  Stream body_;
};

TEST_F(BadCode, IsGoodAsItWas) { EXPECT_EQ(refusal(), ""); }

TEST_F(BadCode, WithAnotherSizeIsRefused) {
  const std::uint32_t right = coded_bytes();
  for (const std::uint32_t wrong : {0u, 1u, right - 8, right + 8, 0xfffffffcu}) {
    set_coded_bytes(wrong);
    EXPECT_EQ(refusal(), "a code's size or padding is wrong") << wrong;
  }
}

TEST_F(BadCode, WithDirtyPaddingIsRefused) {
  body_.resize(body_.size() + 8);  // as if its last bytes were not part of the code
  body_.back() = std::byte{1};
  set_coded_bytes(static_cast<std::uint32_t>(body_.size() - 4 - 7));
  EXPECT_EQ(refusal(), "a code's size or padding is wrong");
}

TEST_F(BadCode, ThatLiesAboutItsRawSizeIsRefused) {
  header_.raw_bytes -= 8;
  EXPECT_NE(refusal().find("not what was encoded"), std::string::npos);
  header_.raw_bytes += 16;
  EXPECT_NE(refusal().find("not what was encoded"), std::string::npos);
}

TEST_F(BadCode, OverTheLimitIsRefusedBeforeAnythingIsAllocated) {
  header_.raw_bytes = kFragmentBytes;
  EXPECT_EQ(refusal(), "body of 1048576 bytes, at most 20256");
  header_.raw_bytes = kFragmentBytes + 8;
  EXPECT_EQ(refusal(), "body of 1048584 bytes, at most 1048576");
}

TEST_F(BadCode, NoShorterThanItsBytesIsRefused) {
  header_.raw_bytes = static_cast<std::uint32_t>(body_.size());
  EXPECT_NE(refusal().find("raw bytes in a body of"), std::string::npos);
}

TEST_F(BadCode, OfAnotherCodecIsRefused) {
  for (const auto codec : {2, 3, 4, 5}) {
    header_.codec = static_cast<std::uint8_t>(codec);
    EXPECT_NE(refusal(), "") << codec;
  }
  header_.codec = codec::kLosslessCount;
  EXPECT_EQ(refusal(), "unknown codec 6");
}

TEST_F(BadCode, CutShortIsRefused) {
  body_.resize(body_.size() - 64);
  EXPECT_EQ(refusal(), "a code's size or padding is wrong");
  set_coded_bytes(static_cast<std::uint32_t>(body_.size() - 4));
  EXPECT_NE(refusal().find("not what was encoded"), std::string::npos);
}

TEST_F(BadCode, ShortBeforeTheLastIsRefused) {
  header_.flags = kMoreFollows;
  EXPECT_EQ(refusal(), "fragment of 20056 bytes before the last");
}

TEST_F(BadCode, OfAStrangerReachesNoCodec) {
  header_.raw_bytes = 4096;
  body_.resize(64);
  EXPECT_EQ(refusal(Limits::for_stranger()), "a coded frame before a valid hello");
}

}  // namespace
}  // namespace wide::wire
