#include "wide/store/gathered_write.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace wide::store {
namespace {

constexpr std::size_t kPiecesAtOnce = 64;

// Where to go on: `skipped_bytes` of the first piece are written already.
struct Rest {
  Pieces pieces;
  std::size_t skipped_bytes = 0;

  void skip(std::size_t bytes) {
    skipped_bytes += bytes;
    while (!pieces.empty() && skipped_bytes >= pieces.front().size()) {
      skipped_bytes -= pieces.front().size();
      pieces = pieces.subspan(1);
    }
  }
};

ssize_t write_some(int file, const Rest& rest, std::uint64_t offset_bytes) {
  std::array<iovec, kPiecesAtOnce> vectors;
  int count = 0;
  std::size_t skipped_bytes = rest.skipped_bytes;
  for (const auto piece : rest.pieces.first(std::min(rest.pieces.size(), kPiecesAtOnce))) {
    const auto left = piece.subspan(skipped_bytes);
    // The kernel's interface is not const, but it only reads.
    vectors[count++] = {const_cast<std::byte*>(left.data()), left.size()};
    skipped_bytes = 0;
  }
  return ::pwritev(file, vectors.data(), count, static_cast<off_t>(offset_bytes));
}

}  // namespace

std::optional<std::uint64_t> write_gathered(int file, Pieces pieces, std::uint64_t offset_bytes) {
  Rest rest{pieces};
  std::uint64_t written_bytes = 0;
  rest.skip(0);
  while (!rest.pieces.empty()) {
    const auto count = write_some(file, rest, offset_bytes + written_bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) errno = EIO;  // no file does that; it must not make us try for ever
    if (count <= 0) return std::nullopt;
    written_bytes += static_cast<std::uint64_t>(count);
    rest.skip(static_cast<std::size_t>(count));
  }
  return written_bytes;
}

}  // namespace wide::store
