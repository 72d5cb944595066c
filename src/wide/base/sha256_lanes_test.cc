// Every instruction set that this machine has gives libcrypto's values.

#include "wide/base/sha256_lanes.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <random>
#include <vector>

#include "wide/base/piece_digest.h"

namespace wide {
namespace {

std::vector<std::byte> pattern(std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
  return bytes;
}

// Runs a claim under each instruction set, then gives the choice back.
template <class Claim>
void on_every_target(const Claim& claim) {
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().DeInit();  // choose anew
    claim();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}

std::string hash_by_pieces(std::span<const std::byte> bytes) {
  Sha256 hash;
  return update_by_pieces(hash, bytes).finish().hex();
}

// What the header draws, one piece after another.
std::string one_after_another(std::span<const std::byte> bytes) {
  if (bytes.size() <= kPieceBytes) return sha256(bytes).hex();
  Sha256 hash;
  for (; bytes.size() > kPieceBytes; bytes = bytes.subspan(kPieceBytes)) {
    hash.update(sha256(bytes.first(kPieceBytes)).bytes);
  }
  return hash.update(sha256(bytes).bytes).finish().hex();
}

TEST(Sha256InLanes, EqualsLibcryptoOnEveryTarget) {
  on_every_target([] {
    for (const std::size_t value_bytes : {64u, 128u, 4096u}) {
      const std::size_t lanes = sha256_lanes();
      std::mt19937 engine(static_cast<unsigned>(value_bytes));
      std::vector<std::vector<std::byte>> values(lanes, pattern(value_bytes + 1));
      std::vector<const std::byte*> firsts;
      for (auto& value : values) {
        for (auto& byte : value) byte = static_cast<std::byte>(engine());
        firsts.push_back(value.data() + 1);  // any alignment
      }
      std::vector<Digest> digests(lanes);

      sha256_in_lanes(firsts, value_bytes, digests.data());

      for (std::size_t i = 0; i < lanes; ++i) {
        EXPECT_EQ(digests[i], sha256(std::span(firsts[i], value_bytes))) << i << " of " << lanes;
      }
    }
  });
}

TEST(Sha256InLanes, NeverPayForOneValueAlone) {
  on_every_target([] {
    EXPECT_FALSE(sha256_lanes_pay(0));
    EXPECT_FALSE(sha256_lanes_pay(1));
    EXPECT_EQ(sha256_lanes_pay(100), sha256_lanes_pay(sha256_lanes()));
  });
}

TEST(UpdateByPieces, EqualsOnePieceAfterAnotherOnEveryTarget) {
  on_every_target([] {
    for (const std::size_t pieces : {0u, 1u, 2u, 7u, 8u, 9u, 15u, 16u, 17u, 24u, 40u}) {
      for (const std::size_t more : {0u, 1u, 63u, 4095u}) {
        const auto bytes = pattern(pieces * kPieceBytes + more);

        EXPECT_EQ(hash_by_pieces(bytes), one_after_another(bytes)) << bytes.size();
      }
    }
  });
}

// From Python's hashlib, by the same drawing.
TEST(UpdateByPieces, MatchesAnotherProgram) {
  EXPECT_EQ(hash_by_pieces(pattern(0)),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hash_by_pieces(pattern(4096)),
            "f9e18c560be5697b5376f69c47a1e30923a7ae047c9a6f747fcba904c0657628");
  EXPECT_EQ(hash_by_pieces(pattern(4097)),
            "e2c8a1fdd14721196d4c4050de51057bf92c03bfcc7aa6e17a1371e9ec242e1e");
  EXPECT_EQ(hash_by_pieces(pattern(40000)),
            "f08c9831dd7d795aa66273ed3dfd02bf12eeadf46f163c5b8e7c7c7f66f94c92");
  EXPECT_EQ(hash_by_pieces(pattern(100000)),
            "62c721bdad3301b8cccc2c9bf4ae72f3a08650589aea2189a6c94de932cc65b2");
}

}  // namespace
}  // namespace wide
