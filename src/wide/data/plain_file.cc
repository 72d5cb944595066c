#include "wide/data/plain_file.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "wide/base/digest.h"
#include "wide/base/log.h"
#include "wide/data/gunzip.h"
#include "wide/data/remembered.h"

namespace wide::data {
namespace {

constexpr std::string_view kPackedSuffix = ".gz";
constexpr std::string_view kPurpose = "unpacked 1";

std::optional<std::uint64_t> remembered_size(const Note& note) {
  const auto value = note.read(sizeof(std::uint64_t));
  if (!value || value->size() != sizeof(std::uint64_t)) return std::nullopt;
  std::uint64_t size = 0;
  std::memcpy(&size, value->data(), sizeof(size));
  return size;
}

Result<void> unpack(const std::filesystem::path& packed, const std::filesystem::path& unpacked) {
  auto done = gunzip_file(packed, unpacked);
  if (done) {
    log::detail("samples unpacked from={} to={}", packed.string(), unpacked.string());
    return done;
  }
  if (done.error().code != Errc::kCannotWrite) return done;
  return fail(Errc::kCannotWrite, fmt::format("{} must be unpacked into the cache folder, but {}",
                                              packed.string(), done.error().detail));
}

// A copy that is there and as long as when it was made is taken as it is; any other is made again.
Result<OpenFile> open_unpacked(const FileStamp& packed, const std::filesystem::path& cache_folder) {
  const auto key = sha256(stamps_text(std::span(&packed, 1))).short_hex();
  const auto copy = cache_folder / fmt::format("unpacked-{}", key) / packed.path.stem();
  const Note note(cache_folder, kPurpose, std::span(&packed, 1));
  if (auto kept = OpenFile::open(copy); kept && remembered_size(note) == kept->stamp().size_bytes) {
    return kept;
  }
  if (auto done = unpack(packed.path, copy); !done) return tl::unexpected(std::move(done.error()));
  auto fresh = OpenFile::open(copy);
  if (!fresh) return fresh;
  const std::uint64_t size = fresh->stamp().size_bytes;
  note.write(std::as_bytes(std::span(&size, 1)));
  return fresh;
}

Result<PlainFile> map_plain(OpenFile file, std::optional<FileStamp> packed) {
  auto mapped = MappedFile::map(file);
  if (!mapped) return tl::unexpected(std::move(mapped.error()));
  return PlainFile{std::move(file), std::move(*mapped), std::move(packed)};
}

Result<PlainFile> open_packed(FileStamp packed, const std::filesystem::path& cache_folder) {
  if (cache_folder.empty()) {
    return fail(Errc::kCannotWrite,
                fmt::format("{} must be unpacked, but there is no cache folder: set HOME or "
                            "XDG_CACHE_HOME",
                            packed.path.string()));
  }
  auto copy = open_unpacked(packed, cache_folder);
  if (!copy) return tl::unexpected(std::move(copy.error()));
  return map_plain(std::move(*copy), std::move(packed));
}

}  // namespace

Result<void> PlainFile::unchanged() const {
  if (auto same = check_stamp(packed ? *packed : open.stamp()); !same) return same;
  return open.unchanged();
}

Result<PlainFile> open_plain(const std::filesystem::path& path) {
  auto file = OpenFile::open(path);
  if (!file) return tl::unexpected(std::move(file.error()));
  return map_plain(std::move(*file), std::nullopt);
}

Result<PlainFile> open_plain_or_packed(const std::filesystem::path& path,
                                       const std::filesystem::path& cache_folder) {
  if (path.extension() == kPackedSuffix) {
    auto packed = stamp_file(path);
    if (!packed) return tl::unexpected(std::move(packed.error()));
    return open_packed(std::move(*packed), cache_folder);
  }
  auto plain = open_plain(path);
  if (plain) return plain;
  auto packed = stamp_file(path.string() + std::string(kPackedSuffix));
  if (packed) return open_packed(std::move(*packed), cache_folder);
  return fail(Errc::kSamplesMissing,
              fmt::format("{}, nor the same with .gz", plain.error().detail));
}

}  // namespace wide::data
