#include "wide/codec/lossy.h"

#include <algorithm>
#include <array>

#include "wide/base/check.h"
#include "wide/base/philox.h"
#include "wide/codec/lossy_groups.h"
#include "wide/codec/topk.h"

namespace wide::codec {

namespace {

constexpr std::array<std::string_view, kLossyCount> kNames = {"none", "fp16", "bf16", "int8",
                                                              "int4", "topk", "sign", "powersgd"};
constexpr std::uint32_t kRoundingPurpose = 0x726f756e;  // "roun"

std::size_t padded(std::size_t bytes) { return (bytes + 3) / 4 * 4; }

std::size_t scale_bytes(Lossy codec, std::size_t count) {
  return codec == Lossy::kBf16 ? 0 : (count + kGroupValues - 1) / kGroupValues * 2;
}

bool has_integers(Lossy codec) {
  return codec == Lossy::kInt8 || codec == Lossy::kInt4 || codec == Lossy::kSign;
}

bool all_zero(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{}; });
}

// Where the scales and the codes end, zeros must follow; so too in the codes' last byte.
bool padding_is_zero(Lossy codec, std::span<const std::byte> coded, std::size_t count) {
  const std::size_t scales = scale_bytes(codec, count), codes = padded(scales);
  const std::size_t end = codes + code_bytes(codec, count);
  if (!all_zero(coded.subspan(scales, codes - scales)) || !all_zero(coded.subspan(end))) {
    return false;
  }
  const std::size_t value_bits = codec == Lossy::kInt4 ? 4 : codec == Lossy::kSign ? 1 : 8;
  const std::size_t last_bits = count * value_bits % 8;
  return last_bits == 0 || std::to_integer<unsigned>(coded[end - 1]) >> last_bits == 0;
}

Encoding encoding_of(Lossy codec, std::span<const float> values, std::span<std::byte> coded) {
  const std::size_t scales = scale_bytes(codec, values.size()), codes = padded(scales);
  const std::size_t end = codes + code_bytes(codec, values.size());
  std::ranges::fill(coded.subspan(scales, codes - scales), std::byte{});
  std::ranges::fill(coded.subspan(end), std::byte{});
  Encoding encoding;
  encoding.values = values.data();
  encoding.count = values.size();
  encoding.scales = coded.data();
  encoding.codes = coded.data() + codes;
  return encoding;
}

void encode_groups(Lossy codec, const Encoding& encoding) {
  has_integers(codec) ? encode_integers(codec, encoding) : encode_halves(codec, encoding);
}

bool decode_any(Lossy codec, std::span<const std::byte> coded, std::span<float> out, bool add) {
  if (codec == Lossy::kTopk) return decode_topk(coded, out, add);
  if (codec == Lossy::kNone) {
    std::byte* into = std::as_writable_bytes(out).data();
    add_floats(coded.data(), add ? into : nullptr, into, out.size());
    return true;
  }
  if (!padding_is_zero(codec, coded, out.size())) return false;
  Decoding decoding;
  decoding.scales = coded.data();
  decoding.codes = coded.data() + padded(scale_bytes(codec, out.size()));
  decoding.out = out.data();
  decoding.count = out.size();
  decoding.add = add;
  return has_integers(codec) ? decode_integers(codec, decoding) : decode_halves(codec, decoding);
}

Result<void> decode_checked(Lossy codec, std::span<const std::byte> coded, std::span<float> out,
                            bool add) {
  const std::string name(lossy_name(codec));
  const std::size_t bytes = coded_bytes(codec, out.size());
  if (coded.size() != bytes) {
    return fail(Errc::kBadCoding, name + " of " + std::to_string(out.size()) + " values has " +
                                      std::to_string(bytes) + " bytes, not " +
                                      std::to_string(coded.size()));
  }
  if (!decode_any(codec, coded, out, add)) {
    return fail(Errc::kBadCoding, "bytes that no encoder of " + name + " writes");
  }
  return {};
}

}  // namespace

std::string_view lossy_name(Lossy codec) {
  const auto number = static_cast<std::size_t>(codec);
  WIDE_CHECK(number < kLossyCount);
  return kNames[number];
}

std::optional<Lossy> lossy_named(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Lossy>(found - kNames.begin());
}

std::size_t topk_kept(std::size_t count) {
  return count == 0 ? 0 : std::max<std::size_t>(1, count / 100);
}

std::size_t code_bytes(Lossy codec, std::size_t count) {
  switch (codec) {
    case Lossy::kFp16:
    case Lossy::kBf16:
      return 2 * count;
    case Lossy::kInt8:
      return count;
    case Lossy::kInt4:
      return (count + 1) / 2;
    case Lossy::kSign:
      return (count + 7) / 8;
    default:
      WIDE_CHECK(false, "a codec without groups");
      return 0;
  }
}

std::size_t coded_bytes(Lossy codec, std::size_t count) {
  WIDE_CHECK(codec != Lossy::kPowersgd, "its size depends on the layout: LowRank");
  if (codec == Lossy::kNone) return count * sizeof(float);
  if (codec == Lossy::kTopk) return topk_bytes(count);
  return padded(scale_bytes(codec, count)) + padded(code_bytes(codec, count));
}

RoundingKey rounding_key(const Rounding& rounding) {
  const RandomStream stream(rounding.seed, kRoundingPurpose, rounding.step, rounding.block);
  const PhiloxBlock words = stream.block(0);
  return {words[0], words[1]};
}

void encode_unbiased(Lossy codec, std::span<const float> values, const Rounding& rounding,
                     std::span<std::byte> coded) {
  WIDE_CHECK(coded.size() == coded_bytes(codec, values.size()));
  if (codec == Lossy::kTopk) return encode_topk_unbiased(values, rounding, coded);
  if (codec == Lossy::kNone) {
    return add_floats(std::as_bytes(values).data(), nullptr, coded.data(), values.size());
  }
  Encoding encoding = encoding_of(codec, values, coded);
  encoding.key = rounding_key(rounding);
  encode_groups(codec, encoding);
}

void encode_with_feedback(Lossy codec, std::span<const float> values, std::span<float> residual,
                          std::span<std::byte> coded) {
  WIDE_CHECK(coded.size() == coded_bytes(codec, values.size()));
  WIDE_CHECK(residual.size() == values.size());
  if (values.empty()) return;  // an empty residual has no address, and would mean unbiased
  const auto kept = std::as_writable_bytes(residual);
  if (codec == Lossy::kNone) {
    add_floats(std::as_bytes(values).data(), kept.data(), coded.data(), values.size());
    std::ranges::fill(residual, 0.0f);
    return;
  }
  if (codec == Lossy::kTopk) {
    add_floats(std::as_bytes(values).data(), kept.data(), kept.data(), values.size());
    return encode_topk_with_feedback(residual, coded);
  }
  Encoding encoding = encoding_of(codec, values, coded);
  encoding.residual = residual.data();
  encode_groups(codec, encoding);
}

Result<void> decode(Lossy codec, std::span<const std::byte> coded, std::span<float> out) {
  return decode_checked(codec, coded, out, false);
}

Result<void> decode_add(Lossy codec, std::span<const std::byte> coded, std::span<float> into) {
  return decode_checked(codec, coded, into, true);
}

}  // namespace wide::codec
