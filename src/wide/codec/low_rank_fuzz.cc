// Arbitrary bytes as the code of two tensors, and arbitrary floats to be coded.
//
//   byte 0: rows of the first, bit 7 encode (else decode); byte 1: its columns; byte 2: size of the
//   second; then the code, or the floats: cut or filled up with zeros

#include <algorithm>
#include <cmath>
#include <cstring>

#include "wide/base/check.h"
#include "wide/codec/low_rank.h"

namespace wide::codec {
namespace {

using Bytes = std::vector<std::byte>;
using Values = std::vector<float>;

void check_decoder(const LowRank& low_rank, const Bytes& coded, Values& out) {
  WIDE_CHECK(low_rank.decode(coded, out).has_value());
  for (const float value : out) WIDE_CHECK(value != 0 || !std::signbit(value));
}

// Two steps with the same values: memory stays finite whatever comes.
void check_encoder(const LowRank& low_rank, const Values& values) {
  Values residual(values.size()), memory(low_rank.memory_count()), out(values.size());
  Bytes coded(low_rank.coded_bytes());
  low_rank.begin(1, memory);
  for (int step = 0; step < 2; ++step) {
    low_rank.encode_with_feedback(values, residual, memory, coded);
    check_decoder(low_rank, coded, out);
    for (const float value : memory) WIDE_CHECK(std::isfinite(value));
  }
}

}  // namespace
}  // namespace wide::codec

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size) {
  using namespace wide::codec;
  if (size < 3) return 0;
  const std::uint64_t rows = input[0] & 31, columns = input[1] & 31, more = input[2] & 31;
  const bool encode = (input[0] & 0x80) != 0;
  const LowRank low_rank({{0, rows, columns}, {rows * columns, more, 1}});
  const auto rest = std::as_bytes(std::span(input + 3, size - 3));
  Values values(low_rank.count());
  (void)low_rank.decode(rest, values);  // mostly of another size

  Bytes bytes(encode ? values.size() * sizeof(float) : low_rank.coded_bytes());
  std::copy_n(rest.begin(), std::min(bytes.size(), rest.size()), bytes.begin());
  if (!encode) {
    check_decoder(low_rank, bytes, values);
  } else if (!values.empty()) {
    std::memcpy(values.data(), bytes.data(), bytes.size());
    check_encoder(low_rank, values);
  }
  return 0;
}
