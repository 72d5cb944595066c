// Arbitrary bytes to every decoder, and arbitrary blocks there and back.
//
//   byte 0: codec (mod 6), bit 7: there and back; bytes 1…3: bytes wanted, or room; then the bytes
//
// A decoder says no, or fills what was asked for. What planes say is what its plain loops say.

#include <algorithm>
#include <vector>

#include "wide/base/check.h"
#include "wide/codec/lossless.h"
#include "wide/codec/planes.h"

namespace wide::codec {
namespace {

using Block = std::vector<std::byte>;

// A vector of exactly the size, so that a sanitizer sees the first byte too many.
void decode_any(Lossless codec, const Block& coded, std::size_t wanted_bytes) {
  LosslessCoder coder;
  Block out(wanted_bytes);
  const auto result = coder.decode(codec, coded, out);
  WIDE_CHECK(result || result.error().code == Errc::kBadCoding);
  if (codec != Lossless::kPlanes || out.empty() || out.size() > kBlockBytesMax) return;

  Block plain(wanted_bytes);
  WIDE_CHECK(decode_planes_reference(coded, plain) == result.has_value());
  WIDE_CHECK(!result || plain == out);
}

void there_and_back(Lossless codec, const Block& raw, std::size_t room_bytes) {
  LosslessCoder coder;
  Block coded(room_bytes);
  coded.resize(coder.encode(codec, raw, coded));
  const bool must_fit = room_bytes >= raw.size() + raw.size() / 8 + 600;
  WIDE_CHECK(!coded.empty() || !must_fit || raw.empty());
  if (codec == Lossless::kPlanes && must_fit) {
    Block plain(room_bytes);
    plain.resize(encode_planes_reference(raw, plain));
    WIDE_CHECK(plain == coded);
  }
  if (coded.empty()) return;

  Block back(raw.size());
  WIDE_CHECK(coder.decode(codec, coded, back).has_value());
  WIDE_CHECK(back == raw);
}

}  // namespace
}  // namespace wide::codec

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size) {
  using namespace wide::codec;
  if (size < 4) return 0;
  const auto codec = static_cast<Lossless>(input[0] % 0x80 % kLosslessCount);
  const std::size_t number = input[1] | input[2] << 8 | input[3] << 16;
  const auto rest = std::as_bytes(std::span(input + 4, size - 4));
  const Block bytes(rest.begin(), rest.end());
  if ((input[0] & 0x80) == 0) {
    decode_any(codec, bytes, number % (kBlockBytesMax + 2));
  } else if (bytes.size() <= kBlockBytesMax) {
    there_and_back(codec, bytes, number % (2 * bytes.size() + 1200));
  }
  return 0;
}
