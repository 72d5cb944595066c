// A kind and a body to the decoder: byte 0 is the kind, the rest the body. What decodes must be
// encoded to the same bytes again.

#include <algorithm>

#include "wide/base/check.h"
#include "wide/wire/message_codec.h"

namespace wide::wire {
namespace {

Limits job_limits() {
  Limits limits;
  limits.value_count = 5;
  limits.state_count = 8;
  limits.block_count_max = 4;
  limits.eval_unit_max = 3;
  limits.job_bytes_max = 200;
  limits.status_bytes_max = 4096;
  limits.manifest_bytes_max = 64;
  limits.fetch_count_max = 3;
  limits.kept_count_max = 3;
  limits.chunk_bytes_max = 32;
  limits.sample_bytes_max = 32;
  limits.stranger = false;
  return limits;
}

void check_encoding(const Message& message, std::span<const std::byte> body) {
  const Packet packet = encode(message);
  WIDE_CHECK(body_bytes(packet) == body.size());
  Segments parts;
  add_body(packet, 0, body.size(), parts);
  for (const auto part : parts) {
    WIDE_CHECK(std::ranges::equal(part, body.first(part.size())));
    body = body.subspan(part.size());
  }
}

}  // namespace
}  // namespace wide::wire

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size) {
  using namespace wide::wire;
  if (size < 1) return 0;
  wide::BufferPool pool(1 << 20);
  const auto kind = static_cast<Kind>(1 + input[0] % kKindLast);
  const auto bytes = std::as_bytes(std::span(input + 1, size - 1));
  const wide::BufferPtr owner = pool.take(bytes.size());
  std::ranges::copy(bytes, owner->begin());
  const auto body = owner->first(bytes.size());

  const auto message = decode(kind, body, owner, job_limits());

  if (message) check_encoding(*message, body);
  return 0;
}
