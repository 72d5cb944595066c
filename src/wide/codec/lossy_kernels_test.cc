// Every instruction set that this machine has gives the bits of the plain loops.

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "wide/codec/example_floats.h"
#include "wide/codec/example_targets.h"
#include "wide/codec/lossy_groups.h"
#include "wide/codec/topk.h"
#include "wide/codec/topk_kernels.h"

namespace wide::codec {
namespace {

using example::Kind;
using example::on_every_target;
using Bytes = std::vector<std::byte>;
using Values = std::vector<float>;

constexpr Lossy kGroupCodecs[] = {Lossy::kFp16, Lossy::kBf16, Lossy::kInt8, Lossy::kInt4,
                                  Lossy::kSign};
constexpr RoundingKey kKey = {0x12345678, 0x9abcdef0};

bool same_bits(const Values& a, const Values& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

bool has_integers(Lossy codec) { return codec >= Lossy::kInt8; }

// All that comes of coding and decoding one array.
struct Outcome {
  Bytes scales, codes;
  Values residual, decoded, sum;
  bool good = false;

  bool operator==(const Outcome& other) const {
    return scales == other.scales && codes == other.codes && good == other.good &&
           same_bits(residual, other.residual) && same_bits(decoded, other.decoded) &&
           same_bits(sum, other.sum);
  }
};

// `shift` bytes before the codes: kernels take any alignment.
Outcome outcome_of(Lossy codec, const Values& values, const Values& residual, bool plain,
                   std::size_t shift) {
  Outcome out;
  const std::size_t count = values.size(), groups = (count + kGroupValues - 1) / kGroupValues;
  out.scales.resize(shift + 2 * groups);
  out.codes.resize(shift + code_bytes(codec, count));
  out.residual = residual;
  Encoding encoding{values.data(),
                    residual.empty() ? nullptr : out.residual.data(),
                    kKey,
                    out.scales.data() + shift,
                    out.codes.data() + shift,
                    count};
  Decoding decoding{encoding.scales, encoding.codes, nullptr, count, false};
  const auto decode_by = plain                 ? decode_groups_reference
                         : has_integers(codec) ? decode_integers
                                               : decode_halves;
  (plain                 ? encode_groups_reference
   : has_integers(codec) ? encode_integers
                         : encode_halves)(codec, encoding);
  out.decoded.resize(count);
  decoding.out = out.decoded.data();
  out.good = decode_by(codec, decoding);
  out.sum = values;
  decoding.out = out.sum.data();
  decoding.add = true;
  out.good = decode_by(codec, decoding) && out.good;
  return out;
}

void expect_same(Lossy codec, const Values& values, const Values& residual, std::size_t shift = 0) {
  const Outcome plain = outcome_of(codec, values, residual, true, shift);
  const Outcome fast = outcome_of(codec, values, residual, false, shift);

  EXPECT_TRUE(plain.good);
  EXPECT_TRUE(plain == fast) << lossy_name(codec) << " of " << values.size() << " values, "
                             << (residual.empty() ? "unbiased" : "with feedback");
}

TEST(LossyKernels, EqualReferenceAtEverySize) {
  on_every_target([](const char* target) {
    SCOPED_TRACE(target);
    for (std::size_t count = 0; count <= 300; ++count) {
      const Kind kind = example::kKinds[count % example::kKinds.size()];
      const Values values = example::floats(kind, count, count);
      const Values residual = example::floats(Kind::kNormal, count, count + 1);
      for (const Lossy codec : kGroupCodecs) {
        expect_same(codec, values, {});
        expect_same(codec, values, residual);
      }
    }
  });
}

TEST(LossyKernels, EqualReferenceOnEveryKindOfFloats) {
  for (const Kind kind : example::kKinds) {
    const Values values = example::floats(kind, 4096 + 77);
    const Values zeros(values.size()), same = values;
    on_every_target([&](const char* target) {
      SCOPED_TRACE(target);
      for (const Lossy codec : kGroupCodecs) {
        expect_same(codec, values, {});
        expect_same(codec, values, zeros);
        expect_same(codec, values, same);  // huge ones become infinite
      }
    });
  }
}

TEST(LossyKernels, TakeAnyAlignment) {
  const Values values = example::floats(Kind::kNormal, 333);
  on_every_target([&](const char* target) {
    SCOPED_TRACE(target);
    for (const Lossy codec : kGroupCodecs) {
      expect_same(codec, values, {}, 1);
      expect_same(codec, values, values, 3);
    }
  });
}

TEST(LossyKernels, EqualReferenceWithNansAnywhere) {
  const float bad[] = {std::numeric_limits<float>::quiet_NaN(),
                       -std::numeric_limits<float>::infinity(), std::bit_cast<float>(0xff800001u)};
  on_every_target([&](const char* target) {
    SCOPED_TRACE(target);
    for (std::size_t at = 0; at < 200; at += 13) {
      Values values = example::floats(Kind::kNormal, 200);
      values[at] = bad[at % 3];
      for (const Lossy codec : kGroupCodecs) {
        expect_same(codec, values, {});
        expect_same(codec, values, Values(200, 1.0f));
      }
    }
  });
}

// Flips every bit of small codes: both decoders say the same. (Padding is the caller's to check, so
// there is none here.)
TEST(LossyKernels, RefuseWhatTheReferenceRefuses) {
  const Values values = example::floats(Kind::kHeavy, 136);
  on_every_target([&](const char* target) {
    SCOPED_TRACE(target);
    for (const Lossy codec : kGroupCodecs) {
      const Outcome coded = outcome_of(codec, values, {}, true, 0);
      for (std::size_t bit = 0; bit < 8 * (4 + coded.codes.size()); ++bit) {
        Bytes scales = coded.scales, codes = coded.codes;
        std::byte& byte = bit < 32 ? scales[bit / 8] : codes[bit / 8 - 4];
        byte ^= static_cast<std::byte>(1u << bit % 8);
        Values fast(values.size()), plain(values.size());
        const Decoding decoding{scales.data(), codes.data(), fast.data(), values.size(), false};
        const Decoding again{scales.data(), codes.data(), plain.data(), values.size(), false};

        const bool good = (has_integers(codec) ? decode_integers : decode_halves)(codec, decoding);

        ASSERT_EQ(good, decode_groups_reference(codec, again)) << lossy_name(codec) << " " << bit;
        if (good) {
          ASSERT_TRUE(same_bits(fast, plain)) << lossy_name(codec) << " " << bit;
        }
      }
    }
  });
}

TEST(MarkLarge, EqualsReferenceOnEveryTarget) {
  on_every_target([](const char* target) {
    SCOPED_TRACE(target);
    for (std::size_t count = 0; count < 300; ++count) {
      const Values values = example::floats(Kind::kSparse, count, count);
      for (const std::uint32_t least : {0u, 1u, 0x3f000000u, 0x7fffffffu}) {
        std::vector<std::uint64_t> fast((count + 63) / 64, 5), plain((count + 63) / 64, 6);

        mark_large(values.data(), count, least, fast.data());
        mark_large_reference(values.data(), count, least, plain.data());

        EXPECT_EQ(fast, plain) << count;
      }
    }
  });
}

TEST(Topk, EqualsReference) {
  for (const std::size_t count : {1u, 2u, 99u, 100u, 199u, 200u, 399u, 1000u, 10'000u}) {
    for (const Kind kind : example::kKinds) {
      const Values values = example::floats(kind, count);
      const Rounding rounding{count, 3, 4};
      Bytes coded(topk_bytes(count));
      Values decoded(count), residual = values;

      encode_topk_unbiased(values, rounding, coded);
      ASSERT_TRUE(decode_topk(coded, decoded, false));
      EXPECT_TRUE(same_bits(decoded, topk_reference(values, &rounding))) << count;

      encode_topk_with_feedback(residual, coded);
      ASSERT_TRUE(decode_topk(coded, decoded, false));
      EXPECT_TRUE(same_bits(decoded, topk_reference(values, nullptr))) << count;
    }
  }
}

}  // namespace
}  // namespace wide::codec
