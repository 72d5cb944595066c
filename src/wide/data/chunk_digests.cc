#include "wide/data/chunk_digests.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <string_view>

#include "wide/base/log.h"

namespace wide::data {
namespace {

constexpr std::uint64_t kSaidBytes = std::uint64_t{1} << 30;  // a second of hashing, or more

// Where the file has bytes of its own at or after a place. Asked in rising order, it asks the
// kernel once per stretch.
class Stretches final {
 public:
  Stretches(int file, std::uint64_t size_bytes) : file_(file), size_bytes_(size_bytes) {}

  bool is_hole(std::uint64_t begin, std::uint64_t end) {
    if (begin >= end_) find(begin);
    return end <= begin_;
  }

 private:
  // A file system that knows of no holes says that everything is bytes, or fails: the same here.
  void find(std::uint64_t from) {
    const auto found = ::lseek(file_, static_cast<off_t>(from), SEEK_DATA);
    if (found < 0) {
      begin_ = errno == ENXIO ? size_bytes_ : from;
      end_ = size_bytes_;
      return;
    }
    begin_ = static_cast<std::uint64_t>(found);
    const auto hole = ::lseek(file_, found, SEEK_HOLE);
    end_ = hole < 0 ? size_bytes_ : static_cast<std::uint64_t>(hole);
  }

  int file_;
  std::uint64_t size_bytes_;
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
};

class ChunkReader final {
 public:
  ChunkReader(const OpenFile& file, const Part& part)
      : file_(file), stretches_(file.number(), file.stamp().size_bytes) {
    buffer_.resize(part.chunk_bytes(part.first_chunk));
  }

  std::uint64_t stored_bytes() const;

  bool is_hole(std::uint64_t begin, std::uint64_t bytes) {
    return stretches_.is_hole(begin, begin + bytes);
  }
  Result<std::span<const std::byte>> read(std::uint64_t begin, std::uint64_t bytes);
  const Digest& zeros(std::uint64_t bytes);

 private:
  tl::unexpected<Error> refuse(std::string_view why) const {
    return fail(Errc::kSamplesChanged, fmt::format("{}: {}", file_.stamp().path.string(), why));
  }

  const OpenFile& file_;
  Stretches stretches_;
  std::vector<std::byte> buffer_;
  std::map<std::uint64_t, Digest> zeros_;
};

std::uint64_t ChunkReader::stored_bytes() const {
  struct stat status = {};
  if (::fstat(file_.number(), &status) != 0) return 0;
  return static_cast<std::uint64_t>(status.st_blocks) * 512;  // whatever st_blksize says
}

Result<std::span<const std::byte>> ChunkReader::read(std::uint64_t begin, std::uint64_t bytes) {
  const auto room = std::span(buffer_).first(bytes);
  for (std::uint64_t at = 0; at < bytes;) {
    const auto count =
        ::pread(file_.number(), room.data() + at, bytes - at, static_cast<off_t>(begin + at));
    if (count == 0) return refuse("ends too early");
    if (count < 0 && errno != EINTR) return refuse(std::strerror(errno));
    if (count > 0) at += static_cast<std::uint64_t>(count);
  }
  return room;
}

const Digest& ChunkReader::zeros(std::uint64_t bytes) {
  const auto [found, is_new] = zeros_.try_emplace(bytes);
  if (is_new) {
    const auto room = std::span(buffer_).first(bytes);
    std::ranges::fill(room, std::byte{0});
    found->second = sha256(room);
  }
  return found->second;
}

Result<Digest> digest_chunk(ChunkReader& reader, std::uint64_t begin_bytes, const Part& part,
                            std::uint64_t chunk, const ChunkViewer& viewer) {
  const auto begin = begin_bytes + part.chunk_begin(chunk);
  const auto bytes = part.chunk_bytes(chunk);
  if (reader.is_hole(begin, bytes)) return reader.zeros(bytes);
  const auto found = reader.read(begin, bytes);
  if (!found) return tl::unexpected(found.error());
  const auto first_element = part.chunk_begin(chunk) / element_bytes(part.type);
  if (auto good = viewer(first_element, *found); !good) return tl::unexpected(good.error());
  return sha256(*found);
}

}  // namespace

Result<void> add_chunk_digests(const OpenFile& file, std::uint64_t begin_bytes, const Part& part,
                               const ChunkViewer& viewer, std::vector<Digest>& digests) {
  if (auto good = file.unchanged(); !good) return good;
  ChunkReader reader(file, part);
  if (reader.stored_bytes() > kSaidBytes) {
    log::info("samples are hashed, this once: {} ({:.1f} GiB)", file.stamp().path.string(),
              static_cast<double>(reader.stored_bytes()) / static_cast<double>(kSaidBytes));
  }
  for (auto chunk = part.first_chunk; chunk < part.first_chunk + part.chunk_count(); ++chunk) {
    const auto digest = digest_chunk(reader, begin_bytes, part, chunk, viewer);
    if (!digest) return tl::unexpected(digest.error());
    digests.push_back(*digest);
  }
  return file.unchanged();
}

}  // namespace wide::data
