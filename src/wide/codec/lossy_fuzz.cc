// Arbitrary bytes as the code of a lossy codec, and arbitrary floats to be coded.
//
//   byte 0: bits 0..2 the codec, bit 7 encode (else decode); byte 1: a third of the count; then the
//   code, or the floats: cut or filled up with zeros
//
// Whatever a decoder takes has no -0.0 and no infinity (but for none, which takes anything), and
// the plain decoder takes it too and says the same. Whatever an encoder writes is taken.

#include <cmath>
#include <cstring>
#include <vector>

#include "wide/base/check.h"
#include "wide/codec/lossy_groups.h"

namespace wide::codec {
namespace {

using Bytes = std::vector<std::byte>;
using Values = std::vector<float>;

bool has_groups(Lossy codec) { return codec != Lossy::kNone && codec != Lossy::kTopk; }

bool same_bits(const Values& a, const Values& b) {
  return a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

std::size_t padded_scale_bytes(Lossy codec, std::size_t count) {
  const std::size_t scales = (count + kGroupValues - 1) / kGroupValues * 2;
  return codec == Lossy::kBf16 ? 0 : (scales + 3) / 4 * 4;
}

// What the decoder says, checked; false: refused.
bool decodes(Lossy codec, const Bytes& coded, Values& out) {
  if (!decode(codec, coded, out)) return false;
  for (const float value : out) {
    WIDE_CHECK(value != 0 || !std::signbit(value));
    WIDE_CHECK(codec == Lossy::kNone || !std::isinf(value));
  }
  Values sum(out.size());
  WIDE_CHECK(decode_add(codec, coded, sum).has_value());
  WIDE_CHECK(codec == Lossy::kNone || same_bits(sum, out));
  if (has_groups(codec)) {
    Values plain(out.size());
    const std::byte* codes = coded.data() + padded_scale_bytes(codec, out.size());
    const Decoding decoding{coded.data(), codes, plain.data(), out.size(), false};
    WIDE_CHECK(decode_groups_reference(codec, decoding) && same_bits(plain, out));
  }
  return true;
}

void check_encoders(Lossy codec, const Values& values) {
  Bytes coded(coded_bytes(codec, values.size()));
  Values out(values.size()), residual = values;
  encode_unbiased(codec, values, {1, 2, 3}, coded);
  WIDE_CHECK(decodes(codec, coded, out));

  encode_with_feedback(codec, values, residual, coded);
  WIDE_CHECK(decodes(codec, coded, out));
  for (std::size_t i = 0; i < values.size() && codec != Lossy::kNone; ++i) {
    const float meant = values[i] + values[i];
    WIDE_CHECK(std::isnan(out[i]) == std::isnan(residual[i]));
    WIDE_CHECK(std::isnan(out[i]) || residual[i] == meant - out[i]);
  }
}

}  // namespace
}  // namespace wide::codec

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size) {
  using namespace wide::codec;
  if (size < 2 || (input[0] & 7) == 7) return 0;
  const auto codec = static_cast<Lossy>(input[0] & 7);
  const std::size_t count = std::size_t{3} * input[1];
  const bool encode = (input[0] & 0x80) != 0;
  const auto rest = std::as_bytes(std::span(input + 2, size - 2));
  Bytes bytes(encode ? count * sizeof(float) : coded_bytes(codec, count));
  Values values(count);
  (void)decode(codec, rest, values);  // mostly of another size

  const std::size_t given_bytes = std::min(bytes.size(), rest.size());
  std::copy_n(rest.begin(), given_bytes, bytes.begin());
  if (!encode) {
    decodes(codec, bytes, values);
  } else if (count > 0) {
    std::memcpy(values.data(), bytes.data(), bytes.size());
    check_encoders(codec, values);
  }
  return 0;
}
