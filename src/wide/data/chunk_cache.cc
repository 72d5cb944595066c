#include "wide/data/chunk_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "wide/base/log.h"
#include "wide/data/aside_file.h"

namespace wide::data {
namespace {

// The folder is looked through after every such share of the limit: that costs a millisecond per
// thousand chunks, and this is by how much each process may pass the limit without knowing.
constexpr std::uint64_t kLookShare = 16;

struct KeptFile {
  std::filesystem::path path;
  std::uint64_t bytes = 0;
  std::int64_t used_ns = 0;
};

// Files aside that a killed process left are listed too: they age, and go like the others.
std::vector<KeptFile> list_files(const std::filesystem::path& folder) {
  std::vector<KeptFile> files;
  std::error_code error;
  auto entry = std::filesystem::recursive_directory_iterator(folder, error);
  for (const auto end = std::filesystem::recursive_directory_iterator(); !error && entry != end;
       entry.increment(error)) {
    struct stat status = {};
    if (::lstat(entry->path().c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    files.push_back(
        {.path = entry->path(),
         .bytes = static_cast<std::uint64_t>(status.st_size),
         .used_ns = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec});
  }
  return files;
}

bool remove_file(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::remove(path, error);
}

void mark_use(const std::filesystem::path& path) {
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // a cache that cannot be marked still serves
}

}  // namespace

ChunkCache::ChunkCache(std::filesystem::path folder, std::uint64_t bytes_max)
    : folder_(std::move(folder)), bytes_max_(bytes_max) {}

std::filesystem::path ChunkCache::path_of(const Digest& sha256) const {
  const auto name = sha256.hex();
  return folder_ / name.substr(0, 2) / name;
}

std::shared_ptr<const MappedFile> ChunkCache::find(const Digest& sha256, std::uint64_t bytes) {
  if (folder_.empty()) return nullptr;
  const auto path = path_of(sha256);
  auto file = MappedFile::open(path);
  if (!file) return nullptr;
  if (file->bytes().size() != bytes || wide::sha256(file->bytes()) != sha256) {
    log::info("chunk in the cache is damaged: {}; fetching it again", path.string());
    remove_file(path);
    return nullptr;
  }
  mark_use(path);
  return std::make_shared<const MappedFile>(std::move(*file));
}

Result<std::shared_ptr<const MappedFile>> ChunkCache::keep(const Digest& sha256,
                                                           std::span<const std::byte> bytes) {
  const auto path = path_of(sha256);
  if (folder_.empty() || bytes.size() > bytes_max_) {
    return fail(Errc::kCannotWrite,
                folder_.empty()
                    ? std::string("there is no cache folder: set HOME or XDG_CACHE_HOME")
                    : fmt::format("{}: a chunk of {} bytes is more than the cache may have ({})",
                                  path.string(), bytes.size(), bytes_max_));
  }
  make_room(bytes.size());
  auto file = AsideFile::create(path);
  if (!file) return tl::unexpected(std::move(file.error()));
  auto done = file->write(bytes);
  if (done) done = file->commit_unsynced();
  if (!done) return tl::unexpected(std::move(done.error()));

  auto mapped = MappedFile::open(path);
  if (!mapped || mapped->bytes().size() != bytes.size()) {  // another process made room meanwhile
    return fail(Errc::kCannotWrite, fmt::format("{}: was removed again", path.string()));
  }
  return std::make_shared<const MappedFile>(std::move(*mapped));
}

// Other processes may be looking too, and then both remove the same files, which hurts nobody.
void ChunkCache::make_room(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes <= bytes_unlooked_) {
    bytes_unlooked_ -= bytes;
    return;
  }
  auto files = list_files(folder_);
  std::uint64_t kept_bytes = 0;
  for (const auto& file : files) kept_bytes += file.bytes;
  if (kept_bytes + bytes > bytes_max_) {
    std::ranges::sort(files, {}, &KeptFile::used_ns);
    const auto aim = bytes_max_ - std::max(bytes, bytes_max_ / kLookShare);
    for (const auto& file : files) {
      if (kept_bytes <= aim) break;
      if (remove_file(file.path)) log::detail("chunk put away: {}", file.path.string());
      kept_bytes -= std::min(kept_bytes, file.bytes);
    }
  }
  const auto free_bytes = bytes_max_ - std::min(bytes_max_, kept_bytes + bytes);
  bytes_unlooked_ = std::min(free_bytes, bytes_max_ / kLookShare);
}

}  // namespace wide::data
