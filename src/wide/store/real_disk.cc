#include "wide/store/real_disk.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "wide/base/failpoint.h"
#include "wide/store/descriptor.h"
#include "wide/store/gathered_write.h"

namespace wide::store {
namespace {

// `otherwise` where errno says nothing more.
tl::unexpected<Error> refuse(std::string_view path, Errc otherwise) {
  const int number = errno;
  const bool full = number == ENOSPC || number == EDQUOT;
  return fail(full ? Errc::kDiskFull : otherwise,
              fmt::format("{}: {}", path, std::strerror(number)));
}

bool is_folder(int parent, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_DIR;
  struct stat status = {};
  return ::fstatat(parent, entry.d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISDIR(status.st_mode);
}

class RealFile final : public DiskFile {
 public:
  RealFile(Descriptor file, std::string path, std::uint64_t size_bytes)
      : file_(std::move(file)), path_(std::move(path)), size_bytes_(size_bytes) {}

  Result<void> append(Pieces pieces) override;
  Result<void> make_room(std::uint64_t bytes) override;
  Result<void> sync() override;
  Result<void> cut(std::uint64_t size_bytes) override;
  Result<void> read(std::uint64_t offset_bytes, std::span<std::byte> into) const override;
  std::uint64_t size_bytes() const override { return size_bytes_; }

 private:
  Result<void> append_half(Pieces pieces);

  Descriptor file_;
  std::string path_;
  std::uint64_t size_bytes_;
  std::uint64_t room_end_bytes_ = 0;  // zeros from size_bytes_ to here, where it is more
};

Result<void> RealFile::append(Pieces pieces) {
  if (failpoint_error("disk.append")) return append_half(pieces);
  const auto written = write_gathered(file_.number(), pieces, size_bytes_);
  if (!written) return refuse(path_, Errc::kCannotWrite);
  size_bytes_ += *written;
  return {};
}

Result<void> RealFile::make_room(std::uint64_t bytes) {
  static constexpr std::array<std::byte, 4096> kZeros{};
  const std::uint64_t from_bytes = std::max(size_bytes_, room_end_bytes_);
  const std::uint64_t to_bytes = size_bytes_ + bytes;
  std::vector<std::span<const std::byte>> pieces;
  for (std::uint64_t at_bytes = from_bytes; at_bytes < to_bytes; at_bytes += kZeros.size()) {
    pieces.push_back(std::span(kZeros).first(std::min(kZeros.size(), to_bytes - at_bytes)));
  }
  if (!write_gathered(file_.number(), pieces, from_bytes)) {
    auto why = refuse(path_, Errc::kCannotWrite);
    if (auto cleared = cut(size_bytes_); !cleared) return cleared;
    return why;
  }
  room_end_bytes_ = std::max(from_bytes, to_bytes);
  return {};
}

// What a full disk does: some of the bytes are there, and none of the rest.
Result<void> RealFile::append_half(Pieces pieces) {
  if (!pieces.empty()) {
    const std::span<const std::byte> half[] = {pieces[0].first(pieces[0].size() / 2)};
    if (!write_gathered(file_.number(), half, size_bytes_)) {
      return refuse(path_, Errc::kCannotWrite);
    }
  }
  errno = ENOSPC;
  return refuse(path_, Errc::kCannotWrite);
}

Result<void> RealFile::sync() {
  if (failpoint_error("disk.sync")) {
    return fail(Errc::kSyncFailed, fmt::format("{}: a failpoint", path_));
  }
  if (::fdatasync(file_.number()) == 0) return {};
  // Whatever the reason, even a full disk: what of the file is on the disk is not known any more.
  return fail(Errc::kSyncFailed, fmt::format("{}: {}", path_, std::strerror(errno)));
}

Result<void> RealFile::cut(std::uint64_t size_bytes) {
  if (failpoint_error("disk.cut")) {
    return fail(Errc::kCannotWrite, fmt::format("{}: a failpoint", path_));
  }
  int done = 0;
  do {
    done = ::ftruncate(file_.number(), static_cast<off_t>(size_bytes));
  } while (done != 0 && errno == EINTR);
  if (done != 0) return refuse(path_, Errc::kCannotWrite);
  size_bytes_ = size_bytes;
  room_end_bytes_ = 0;
  return {};
}

Result<void> RealFile::read(std::uint64_t offset_bytes, std::span<std::byte> into) const {
  while (!into.empty()) {
    const auto count =
        ::pread(file_.number(), into.data(), into.size(), static_cast<off_t>(offset_bytes));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return refuse(path_, Errc::kCannotRead);
    if (count == 0) {
      return fail(Errc::kCannotRead, fmt::format("{}: ends at byte {}", path_, offset_bytes));
    }
    into = into.subspan(static_cast<std::size_t>(count));
    offset_bytes += static_cast<std::uint64_t>(count);
  }
  return {};
}

int open_flags(Open how) {
  // O_NONBLOCK: a named pipe in the file's place must not make us wait for its other end.
  constexpr int kAlways = O_CLOEXEC | O_NONBLOCK;
  switch (how) {
    case Open::kRead:
      return kAlways | O_RDONLY;
    case Open::kAppend:
      return kAlways | O_RDWR | O_CREAT;
    case Open::kAnew:
      return kAlways | O_RDWR | O_CREAT | O_EXCL;
  }
  return kAlways;
}

}  // namespace

RealDisk::RealDisk(std::filesystem::path folder) : folder_(std::move(folder)) {}

std::string RealDisk::path(std::string_view name) const {
  if (name.empty()) return folder_.empty() ? "." : folder_.string();
  return (folder_ / name).string();
}

Result<DiskFilePtr> RealDisk::open(std::string_view name, Open how) {
  const auto where = path(name);
  const auto unusable = how == Open::kRead ? Errc::kCannotRead : Errc::kCannotWrite;
  // Removed, not emptied: a link in its place must not lead the bytes elsewhere.
  if (how == Open::kAnew && ::unlink(where.c_str()) != 0 && errno != ENOENT) {
    return refuse(where, unusable);
  }
  Descriptor file(::open(where.c_str(), open_flags(how), 0666));
  if (!file.is_open()) {
    return refuse(where, how == Open::kRead && errno == ENOENT ? Errc::kRunMissing : unusable);
  }
  struct stat status = {};
  if (::fstat(file.number(), &status) != 0) return refuse(where, unusable);
  if (!S_ISREG(status.st_mode)) return fail(unusable, fmt::format("{}: not a plain file", where));
  return std::make_shared<RealFile>(std::move(file), where,
                                    static_cast<std::uint64_t>(status.st_size));
}

Result<void> RealDisk::rename(std::string_view from, std::string_view to) {
  if (::rename(path(from).c_str(), path(to).c_str()) == 0) return {};
  return refuse(path(to), errno == ENOENT ? Errc::kRunMissing : Errc::kCannotWrite);
}

Result<void> RealDisk::remove(std::string_view name) {
  if (::unlink(path(name).c_str()) == 0) return {};
  return refuse(path(name), errno == ENOENT ? Errc::kRunMissing : Errc::kCannotWrite);
}

Result<void> RealDisk::make_folder(std::string_view name) {
  if (::mkdir(path(name).c_str(), 0777) == 0) return {};
  struct stat status = {};
  const int why = errno;
  if (::stat(path(name).c_str(), &status) == 0 && S_ISDIR(status.st_mode)) return {};
  errno = why;
  return refuse(path(name), Errc::kCannotWrite);
}

Result<void> RealDisk::sync_folder(std::string_view name) {
  const Descriptor folder(::open(path(name).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) return refuse(path(name), Errc::kCannotWrite);
  // EINVAL: a file system whose folders need no sync, or have none.
  if (::fsync(folder.number()) == 0 || errno == EINVAL) return {};
  return fail(Errc::kSyncFailed, fmt::format("{}: {}", path(name), std::strerror(errno)));
}

// Not by std::filesystem: where memory is short its iterator ends the process instead of throwing.
Result<std::vector<std::string>> RealDisk::list(std::string_view folder) {
  const std::string place = path(folder);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(place.c_str()), &::closedir);
  if (!entries) return refuse(place, errno == ENOENT ? Errc::kRunMissing : Errc::kCannotRead);
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(entries.get())) {
    if (!is_folder(::dirfd(entries.get()), *entry)) names.emplace_back(entry->d_name);
    errno = 0;
  }
  if (errno != 0) return refuse(place, Errc::kCannotRead);
  std::ranges::sort(names);
  return names;
}

Result<std::uint64_t> RealDisk::room_bytes() {
  struct statvfs status = {};
  if (::statvfs(path("").c_str(), &status) != 0) return refuse(path(""), Errc::kCannotRead);
  return std::uint64_t{status.f_bavail} * status.f_frsize;
}

}  // namespace wide::store
