#include "wide/wire/message_head.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace wide::wire {
namespace {

std::vector<std::byte> pattern(std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 7 + 1);
  return bytes;
}

TEST(MessageHead, HoldsWhatWasAppendedHoweverItWasCut) {
  for (const std::size_t count : {0u, 1u, 95u, 96u, 97u, 191u, 192u, 400u, 5000u}) {
    for (const std::size_t piece : {1u, 3u, 8u, 96u, 97u, 5000u}) {
      const auto bytes = pattern(count);
      MessageHead head;

      for (auto rest = std::span(bytes); !rest.empty();) {
        const auto next = rest.first(std::min(piece, rest.size()));
        head.append(next);
        rest = rest.subspan(next.size());
      }

      EXPECT_TRUE(std::ranges::equal(head, bytes)) << count << " by " << piece;
      EXPECT_EQ(head.size(), count);
    }
  }
}

TEST(MessageHead, IsPaddedWithZeros) {
  for (const std::size_t count : {0u, 1u, 7u, 8u, 93u, 96u, 97u, 303u}) {
    auto expected = pattern(count);
    MessageHead head;
    head.append(expected);

    head.pad_to_8();

    expected.resize((count + 7) / 8 * 8);
    EXPECT_TRUE(std::ranges::equal(head, expected)) << count;
  }
}

TEST(MessageHead, IsTheSameWhenCopiedAndMoved) {
  for (const std::size_t count : {20u, 200u}) {
    const auto bytes = pattern(count);
    MessageHead head;
    head.append(bytes);

    const MessageHead copy = head;
    const MessageHead moved = std::move(head);

    EXPECT_TRUE(std::ranges::equal(copy, bytes));
    EXPECT_TRUE(std::ranges::equal(moved, bytes));
  }
}

}  // namespace
}  // namespace wide::wire
