#include "wide/data/idx_folder.h"

#include <fmt/format.h>

#include <utility>

#include "wide/base/digest.h"
#include "wide/base/log.h"
#include "wide/data/gunzip.h"

namespace wide::data {
namespace {

struct Source {
  FileStamp stamp;
  bool packed = false;
};

Result<Source> find_source(const std::filesystem::path& folder, std::string_view name) {
  auto plain = stamp_file(folder / name);
  if (plain) return Source{std::move(*plain), false};
  auto packed = stamp_file(folder / fmt::format("{}.gz", name));
  if (packed) return Source{std::move(*packed), true};
  return fail(Errc::kSamplesMissing,
              fmt::format("{}, nor the same with .gz", plain.error().detail));
}

std::filesystem::path unpacked_folder(const std::filesystem::path& cache_folder,
                                      std::string_view kind, std::span<const Source> sources) {
  std::vector<FileStamp> stamps;
  for (const auto& source : sources) stamps.push_back(source.stamp);
  const auto key = sha256(stamps_text(stamps)).short_hex();
  return cache_folder / fmt::format("{}-{}", kind, key);
}

Result<MappedIdx> map_idx(const std::filesystem::path& path) {
  auto file = MappedFile::open(path);
  if (!file) return tl::unexpected(std::move(file.error()));
  auto idx = parse_idx(file->bytes(), path.string());
  if (!idx) return tl::unexpected(std::move(idx.error()));
  return MappedIdx{std::move(*file), std::move(*idx)};
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

// A copy that is there and well-formed is taken as it is; any other is unpacked again.
Result<MappedIdx> map_unpacked(const std::filesystem::path& packed,
                               const std::filesystem::path& unpacked) {
  if (auto kept = map_idx(unpacked)) return kept;
  if (auto done = unpack(packed, unpacked); !done) return tl::unexpected(std::move(done.error()));
  auto fresh = map_idx(unpacked);
  if (fresh || fresh.error().code != Errc::kSamplesCorrupt) return fresh;
  return fail(Errc::kSamplesCorrupt,
              fmt::format("{} (unpacked from {})", fresh.error().detail, packed.string()));
}

}  // namespace

Result<std::vector<MappedIdx>> open_idx_files(const std::filesystem::path& folder,
                                              std::span<const std::string_view> names,
                                              const std::filesystem::path& cache_folder,
                                              std::string_view kind) {
  std::vector<Source> sources;
  for (const auto name : names) {
    auto source = find_source(folder, name);
    if (!source) return tl::unexpected(std::move(source.error()));
    sources.push_back(std::move(*source));
  }

  const auto unpacked = unpacked_folder(cache_folder, kind, sources);
  std::vector<MappedIdx> files;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const auto& [stamp, packed] = sources[i];
    if (packed && cache_folder.empty()) {
      return fail(Errc::kCannotWrite,
                  fmt::format("{} must be unpacked, but there is no cache folder: set HOME or "
                              "XDG_CACHE_HOME",
                              stamp.path.string()));
    }
    auto file = packed ? map_unpacked(stamp.path, unpacked / names[i]) : map_idx(stamp.path);
    if (!file) return tl::unexpected(std::move(file.error()));
    files.push_back(std::move(*file));
  }
  return files;
}

}  // namespace wide::data
