#include "wide/data/gunzip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <vector>

#include "wide/base/check.h"
#include "wide/data/aside_file.h"
#include "wide/data/mapped_file.h"

namespace wide::data {
namespace {

constexpr std::size_t kInputBytesMax = std::size_t{1} << 30;  // zlib counts in 32 bits
constexpr std::size_t kOutputBytes = std::size_t{256} << 10;
constexpr int kGzipOnly = 16 + MAX_WBITS;  // zlib's way of asking for gzip's header and trailer

class Unpacking final {
 public:
  Unpacking(std::span<const std::byte> packed, std::string_view source)
      : rest_(packed), source_(source), output_(kOutputBytes) {
    WIDE_CHECK(::inflateInit2(&stream_, kGzipOnly) == Z_OK, "zlib has no memory");
  }
  ~Unpacking() { ::inflateEnd(&stream_); }
  Unpacking(const Unpacking&) = delete;
  Unpacking& operator=(const Unpacking&) = delete;

  // The next unpacked bytes, possibly none; finished() once the last member has ended well.
  Result<std::span<const std::byte>> next();
  bool finished() const { return finished_; }
  tl::unexpected<Error> refuse(std::string_view why) const {
    return fail(Errc::kSamplesCorrupt, fmt::format("{}: {}", source_, why));
  }

 private:
  void feed();
  Result<void> end_member();
  Result<void> judge(int status);

  std::span<const std::byte> rest_;  // not yet given to zlib
  std::string_view source_;
  std::vector<std::byte> output_;
  z_stream stream_ = {};
  bool finished_ = false;
};

Result<std::span<const std::byte>> Unpacking::next() {
  feed();
  stream_.next_out = reinterpret_cast<Bytef*>(output_.data());
  stream_.avail_out = static_cast<uInt>(output_.size());
  if (auto judged = judge(::inflate(&stream_, Z_NO_FLUSH)); !judged) {
    return tl::unexpected(judged.error());
  }
  return std::span<const std::byte>(output_).first(output_.size() - stream_.avail_out);
}

void Unpacking::feed() {
  if (stream_.avail_in > 0 || rest_.empty()) return;
  const auto piece = rest_.first(std::min(rest_.size(), kInputBytesMax));
  rest_ = rest_.subspan(piece.size());
  stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(piece.data()));
  stream_.avail_in = static_cast<uInt>(piece.size());
}

Result<void> Unpacking::judge(int status) {
  if (status == Z_OK) return {};
  if (status == Z_STREAM_END) return end_member();
  if (status == Z_BUF_ERROR) return refuse("truncated: the gzip data end too early");
  WIDE_CHECK(status != Z_MEM_ERROR, "zlib has no memory");
  return refuse(
      fmt::format("damaged gzip data ({})", stream_.msg != nullptr ? stream_.msg : "unreadable"));
}

// A gzip file is one member or several in a row; anything else after a member is not gzip's.
Result<void> Unpacking::end_member() {
  feed();
  finished_ = stream_.avail_in == 0;
  if (finished_) return {};
  if (*stream_.next_in != 0x1f) return refuse("has bytes after the end of its gzip data");
  ::inflateReset(&stream_);  // keeps its place in input and output
  return {};
}

}  // namespace

Result<std::uint64_t> gunzip(std::span<const std::byte> packed, std::string_view source,
                             std::uint64_t unpacked_bytes_max, const ByteSink& sink) {
  Unpacking unpacking(packed, source);
  std::uint64_t unpacked_bytes = 0;
  while (!unpacking.finished()) {
    const auto piece = unpacking.next();
    if (!piece) return tl::unexpected(piece.error());
    unpacked_bytes += piece->size();
    if (unpacked_bytes > unpacked_bytes_max) {
      return unpacking.refuse(
          fmt::format("unpacks to more than the {} bytes allowed", unpacked_bytes_max));
    }
    if (auto taken = sink(*piece); !taken) return tl::unexpected(std::move(taken.error()));
  }
  return unpacked_bytes;
}

Result<void> gunzip_file(const std::filesystem::path& from, const std::filesystem::path& to,
                         std::uint64_t unpacked_bytes_max) {
  auto packed = MappedFile::open(from);
  if (!packed) return tl::unexpected(std::move(packed.error()));
  auto unpacked = AsideFile::create(to);
  if (!unpacked) return tl::unexpected(std::move(unpacked.error()));

  const auto done =
      gunzip(packed->bytes(), from.string(), unpacked_bytes_max,
             [&](std::span<const std::byte> bytes) { return unpacked->write(bytes); });
  if (!done) return tl::unexpected(done.error());
  return unpacked->commit();
}

}  // namespace wide::data
