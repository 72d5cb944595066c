#include "wide/wire/message_codec.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "wide/wire/example_messages.h"

namespace wide::wire {
namespace {

class MessageCodec : public testing::Test {
 protected:
  std::string refusal(Kind kind, std::span<const std::byte> body) {
    return refusal(kind, body, limits_);
  }
  std::string refusal(Kind kind, std::span<const std::byte> body, const Limits& limits) {
    BufferPtr owner = pool_.take(body.size());
    std::ranges::copy(body, owner->begin());
    const auto message = decode(kind, owner->first(body.size()), owner, limits);
    return message ? "" : message.error().detail;
  }
  // Why a whole message is refused under other limits.
  std::string refusal(Message message, const Limits& limits) {
    const Packet packet = encode(std::move(message));
    return refusal(packet.kind, example::joined_body(pool_, packet).bytes, limits);
  }

  BufferPool pool_;
  Limits limits_ = example::limits();
};

TEST_F(MessageCodec, ReadsEveryKindAsItWasWritten) {
  auto messages = example::messages(pool_, limits_);
  ASSERT_EQ(messages.size(), kKindLast);
  for (Message& message : messages) {
    const Packet packet = encode(message);
    const auto body = example::joined_body(pool_, packet);

    auto read = decode(packet.kind, body.bytes, body.owner, limits_);

    ASSERT_TRUE(read) << read.error().detail;
    EXPECT_TRUE(example::same(*read, message)) << kind_name(packet.kind);
  }
}

RC_GTEST_FIXTURE_PROP(MessageCodec, ReadsRandomMessagesAsTheyWereWritten, ()) {
  Message message = example::random_message(pool_, limits_);
  const Packet packet = encode(message);
  const auto body = example::joined_body(pool_, packet);

  auto read = decode(packet.kind, body.bytes, body.owner, limits_);

  RC_ASSERT(bool(read));
  RC_ASSERT(example::same(*read, message));
  RC_ASSERT(body.bytes.size() <= limits_.body_bytes_max(packet.kind));
}

// By hand, from docs/wire-format.md.
TEST_F(MessageCodec, LaysALeaseAsDrawn) {
  const Packet packet = encode(Lease{{1}, 2, 3, 4, 5, 1, 6});

  const std::array<std::uint8_t, 48> expected = {1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0,
                                                 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0,
                                                 0, 0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 6};
  EXPECT_TRUE(std::ranges::equal(packet.head, std::as_bytes(std::span(expected))));
}

TEST_F(MessageCodec, LaysAHelloAsDrawn) {
  const Packet packet = encode(Hello{Role::kNode, 0x0203, "v", "ab", {}, 0x0405});

  std::array<std::uint8_t, 48> expected = {1, 3, 2, 1, 0, 0, 0, 'v', 2, 0, 0, 0, 'a', 'b'};
  expected[46] = 5;
  expected[47] = 4;
  EXPECT_TRUE(std::ranges::equal(packet.head, std::as_bytes(std::span(expected))));
}

TEST_F(MessageCodec, LaysAnUpdateAsDrawn) {
  const Packet packet =
      encode(Update{1, 2, {1, 1, 1, 1, 1}, as_they_are(example::floats(pool_, 5))});

  ASSERT_EQ(packet.head.size(), 48u) << "step, chain, five scalars, codec, size, padding";
  EXPECT_EQ(packet.head[37], std::byte{20}) << "the size of the values";
  EXPECT_EQ(body_bytes(packet), 48u + 24u) << "five floats and padding";
  EXPECT_EQ(wire_bytes(packet), 32u + 48u + 24u);
}

TEST_F(MessageCodec, BulkIsReadWhereItArrived) {
  const Packet packet = encode(Snapshot{1, 2, {}, example::floats(pool_, 8)});
  const auto body = example::joined_body(pool_, packet);

  const auto read = decode(packet.kind, body.bytes, body.owner, limits_);

  const Floats& state = std::get<Snapshot>(*read).state;
  EXPECT_EQ(state.bytes().data(), body.bytes.data() + packet.head.size());
  EXPECT_EQ(state.owner, body.owner);
}

TEST_F(MessageCodec, RefusesEveryTruncation) {
  for (const Message& message : example::messages(pool_, limits_)) {
    const Packet packet = encode(message);
    const auto body = example::joined_body(pool_, packet);
    for (std::size_t bytes = 0; bytes < body.bytes.size(); ++bytes) {
      EXPECT_NE(refusal(packet.kind, body.bytes.first(bytes)), "")
          << kind_name(packet.kind) << " of " << bytes << " bytes";
    }
  }
}

TEST_F(MessageCodec, RefusesBytesTooMany) {
  for (const Message& message : example::messages(pool_, limits_)) {
    const Packet packet = encode(message);
    const auto body = example::joined_body(pool_, packet);
    std::vector<std::byte> longer(body.bytes.begin(), body.bytes.end());
    longer.resize(longer.size() + 8);

    EXPECT_EQ(refusal(packet.kind, longer),
              std::string(kind_name(packet.kind)) + ": 8 bytes too many");
  }
}

// There is one encoding of a message, so a changed byte is either refused or read as a change.
TEST_F(MessageCodec, NoByteIsIgnored) {
  for (const Message& message : example::messages(pool_, limits_)) {
    const Packet packet = encode(message);
    auto body = example::joined_body(pool_, packet);
    for (std::byte& byte : body.bytes) {
      byte ^= std::byte{0x10};
      auto read = decode(packet.kind, body.bytes, body.owner, limits_);
      if (read) {
        Message original = message;
        EXPECT_FALSE(example::same(*read, original)) << kind_name(packet.kind);
      }
      byte ^= std::byte{0x10};
    }
  }
}

TEST_F(MessageCodec, DemandsExactlyTheJobsValues) {
  EXPECT_EQ(refusal(Update{0, 0, {}, as_they_are(example::floats(pool_, 4))}, limits_),
            "update: 16 bytes of values, not 20");
  EXPECT_EQ(refusal(Snapshot{0, 0, {}, {}}, limits_), "snapshot: 0 values, not 8");
}

TEST_F(MessageCodec, RefusesRowsAndCountsOverTheJobs) {
  EXPECT_EQ(refusal(Lease{{1}, 0, 0, 0, 0, 5}, limits_), "lease: count of 5, at most 4");
  EXPECT_EQ(refusal(EvalLease{{1}, 0, 0, 0, 4}, limits_), "eval lease: count of 4, at most 3");
  EXPECT_EQ(refusal(EvalResult{{1}, 0, 0, 0, 0, std::vector<EvalRow>(4)}, limits_),
            "eval result: 4 rows, at most 3");
  LeaseResult result;
  result.rows.resize(5);
  EXPECT_EQ(refusal(result, limits_), "result: 5 rows, at most 4");
}

TEST_F(MessageCodec, RefusesRowsThatAreNotThere) {
  Limits limits = limits_;
  limits.status_bytes_max = limits.eval_unit_max = 0xffffffff;
  auto packet = encode(EvalResult{});
  packet.head[32] = packet.head[33] = packet.head[34] = packet.head[35] = std::byte{0xff};

  EXPECT_EQ(refusal(packet.kind, packet.head, limits), "eval result: 4294967295 rows do not fit");
}

TEST_F(MessageCodec, RefusesTextsOverTheLimit) {
  Limits limits = limits_;
  limits.text_bytes_max = 3;
  EXPECT_EQ(refusal(Leave{"four"}, limits), "leave: text of 4 bytes, at most 3");
  EXPECT_EQ(refusal(Leave{"abc"}, limits), "");

  Welcome welcome;
  welcome.job_text.resize(201);
  EXPECT_EQ(refusal(welcome, limits_), "welcome: text of 201 bytes, at most 200");
}

TEST_F(MessageCodec, RefusesUnknownRolesAndFlags) {
  auto hello = encode(Hello{});
  hello.head[0] = std::byte{3};
  EXPECT_EQ(refusal(hello.kind, hello.head), "hello: unknown role 3");

  auto ready = encode(Ready{});
  ready.head[36] = std::byte{2};
  EXPECT_EQ(refusal(ready.kind, ready.head), "ready: flag of 2");
}

TEST_F(MessageCodec, RefusesPaddingThatIsNotZero) {
  auto packet = encode(Want{1});
  packet.head[7] = std::byte{1};

  EXPECT_EQ(refusal(packet.kind, packet.head), "want: padding is not zero");
}

TEST_F(MessageCodec, CutsALongReasonBetweenLetters) {
  std::string reason(kTextBytesMax - 1, 'x');
  reason += "ü and more";
  const Packet packet = encode(Leave{reason});

  const auto read = decode(packet.kind, packet.head, nullptr, limits_);

  ASSERT_TRUE(read);
  EXPECT_EQ(std::get<Leave>(*read).reason, std::string(kTextBytesMax - 1, 'x'));
}

TEST(Limits, AStrangerHasFourKibibytesForEveryKind) {
  for (std::uint16_t kind = 1; kind <= kKindLast; ++kind) {
    EXPECT_EQ(Limits::for_stranger().body_bytes_max(static_cast<Kind>(kind)), kStrangerBytes);
  }
}

TEST(Limits, TheLongestHelloIsGoodForAStranger) {
  const std::string longest(kTextBytesMax, 'x');
  const Packet packet = encode(Hello{Role::kNode, 1, longest, longest, {}, 0});

  EXPECT_LE(body_bytes(packet), kStrangerBytes);
  EXPECT_TRUE(decode(packet.kind, packet.head, nullptr, Limits::for_stranger()));
}

}  // namespace
}  // namespace wide::wire
