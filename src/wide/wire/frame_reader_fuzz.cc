// Arbitrary bytes, in arbitrary chunks, to a reader of a stranger's link and of a node's.
//
//   byte 0: bit 0 job limits (else a stranger's), bit 1 mend the frames first; byte 1: chunk seed;
//   then the stream
//
// Mending gives every frame a right magic, version, sequence and checksum, and a code its size, so
// that the fuzzer gets past them to kinds, flags, sizes, bodies and codes. Whatever is heard in
// chunks must be what is heard when all comes at once.

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "wide/base/check.h"
#include "wide/wire/frame_reader.h"

namespace wide::wire {
namespace {

using Stream = std::vector<std::byte>;

Limits job_limits() {
  Limits limits;
  limits.value_count = 5;
  limits.state_count = kFragmentBytes / 4 + 100;  // in two fragments
  limits.block_count_max = 4;
  limits.eval_unit_max = 3;
  limits.job_bytes_max = 8192;
  limits.status_bytes_max = 8192;
  limits.stranger = false;
  return limits;
}

// A size that is nearly right leaves padding of any length from 0 to 7.
void mend_code_size(std::span<std::byte> body) {
  if (body.size() <= kCodedSizeBytes) return;
  const auto padding = std::to_integer<std::size_t>(body[0]) % 8;
  const std::size_t rest_bytes = body.size() - kCodedSizeBytes;
  const auto size = static_cast<std::uint32_t>(rest_bytes - std::min(padding, rest_bytes - 1));
  std::memcpy(body.data(), &size, kCodedSizeBytes);
}

// The body's first bytes come from the input, the rest are zeros: fragments are a megabyte long.
Stream mended(std::span<const std::byte> input) {
  constexpr std::size_t kStreamBytesMax = 3 * kFragmentBytes;
  Stream stream;
  for (std::uint32_t sequence = 0; input.size() >= kHeaderBytes && stream.size() < kStreamBytesMax;
       ++sequence) {
    Header header;
    std::uint16_t kind;
    std::memcpy(&kind, input.data() + 6, 2);
    std::memcpy(&header.body_bytes, input.data() + 8, 4);
    header.kind = static_cast<Kind>(kind);
    header.body_bytes = std::min<std::uint32_t>(header.body_bytes, kFragmentBytes);
    std::memcpy(&header.raw_bytes, input.data() + 12, 4);
    header.codec = std::to_integer<std::uint8_t>(input[20]);
    if (header.codec == 0) header.raw_bytes = header.body_bytes;
    header.sequence = sequence;
    header.flags = std::to_integer<std::uint8_t>(input[21]);
    input = input.subspan(kHeaderBytes);

    // Of a code all counts; of a fragment the first bytes will do.
    const std::size_t given_bytes_max = header.codec == 0 ? 512 : 8192;
    Stream body(header.body_bytes);
    const std::size_t given_bytes = std::min({body.size(), input.size(), given_bytes_max});
    std::ranges::copy(input.first(given_bytes), body.begin());
    if (header.codec != 0) mend_code_size(body);
    input = input.subspan(given_bytes);
    const HeaderBytes head = encode_header(header, xxh3(body));
    stream.insert(stream.end(), head.begin(), head.end());
    stream.insert(stream.end(), body.begin(), body.end());
  }
  return stream;
}

// How many bytes come next; seed 0: all of them.
std::size_t chunk_bytes(std::uint32_t& seed, std::size_t left_bytes) {
  if (seed == 0) return left_bytes;
  seed = seed * 1664525 + 1013904223;
  return std::min(left_bytes, std::size_t{1} + (seed >> 8) % (left_bytes / 16 + 64));
}

// One line per message, then the error if there was one.
std::string heard(std::span<const std::byte> stream, const Limits& limits, std::uint32_t seed) {
  BufferPool pool(8 << 20);
  FrameReader reader(pool, limits);
  std::string lines;
  while (!stream.empty()) {
    const auto space = reader.space();
    WIDE_CHECK(!space.empty());
    const auto part = stream.first(std::min(space.size(), chunk_bytes(seed, stream.size())));
    std::ranges::copy(part, space.begin());
    reader.filled(part.size());
    stream = stream.subspan(part.size());
    while (true) {
      const auto message = reader.next();
      if (!message) return lines + describe(message.error());
      if (!*message) break;
      lines += std::to_string(reader.last_message_bytes()) + " ";
      lines += std::string(kind_name(kind_of(**message))) + "\n";
    }
  }
  return lines;
}

}  // namespace
}  // namespace wide::wire

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size) {
  using namespace wide::wire;
  if (size < 2) return 0;
  const Limits limits = (input[0] & 1) != 0 ? job_limits() : Limits::for_stranger();
  const auto rest = std::as_bytes(std::span(input + 2, size - 2));
  const Stream stream = (input[0] & 2) != 0 ? mended(rest) : Stream(rest.begin(), rest.end());

  WIDE_CHECK(heard(stream, limits, input[1] + 1u) == heard(stream, limits, 0));
  return 0;
}
