#include "wide/base/digest.h"

#include <gtest/gtest.h>

#include <vector>

namespace wide {
namespace {

std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// The examples of FIPS 180-4.
TEST(Sha256, MatchesFipsVectors) {
  EXPECT_EQ(sha256("").hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc").hex(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq").hex(),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')).hex(),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, OfPiecesEqualsOfWhole) {
  Sha256 hash;

  hash.update("ab").update("").update("c");

  EXPECT_EQ(hash.finish(), sha256("abc"));
}

TEST(Sha256, StartsAnewAfterFinish) {
  Sha256 hash;
  hash.update("something else").finish();

  EXPECT_EQ(hash.update("abc").finish(), sha256("abc"));
}

TEST(Digest, ShortHexIsTheBeginningOfHex) {
  const Digest digest = sha256("abc");

  EXPECT_EQ(digest.short_hex(), "ba7816bf8f01");
  EXPECT_FALSE(digest.is_zero());
  EXPECT_TRUE(Digest{}.is_zero());
}

// The value that xxHash's own documentation gives for the empty input.
TEST(Xxh3, MatchesPublishedValueOfNothing) { EXPECT_EQ(xxh3({}), 0x2D06800538D394C2u); }

TEST(Xxh3, SeedChangesTheValue) { EXPECT_NE(xxh3(as_bytes("abc"), 1), xxh3(as_bytes("abc"), 2)); }

TEST(Xxh3, JoinedPartsEqualTheWhole) {
  const std::string text(1000, 'x');
  const auto whole = as_bytes(text);
  for (const std::size_t cut : {0u, 1u, 8u, 239u, 500u, 999u, 1000u}) {
    const std::vector parts = {whole.first(cut), whole.subspan(cut)};

    EXPECT_EQ(xxh3_joined(parts), xxh3(whole)) << "cut at " << cut;
  }
}

TEST(ParseDigest, TakesBackWhatHexWrote) {
  const Digest digest = sha256("digest");

  EXPECT_EQ(parse_digest(digest.hex()), digest);
}

TEST(ParseDigest, RefusesWhatIsNoDigest) {
  const std::string hex = sha256("digest").hex();

  EXPECT_FALSE(parse_digest(""));
  EXPECT_FALSE(parse_digest(hex.substr(1)));
  EXPECT_FALSE(parse_digest(hex + "00"));
  EXPECT_FALSE(parse_digest("0x" + hex.substr(2)));
  EXPECT_FALSE(parse_digest(hex.substr(0, 63) + "g"));
}

}  // namespace
}  // namespace wide
