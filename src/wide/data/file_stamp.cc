#include "wide/data/file_stamp.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <iterator>
#include <string_view>

namespace wide::data {

FileStamp make_stamp(const std::filesystem::path& path, const struct stat& status) {
  std::error_code ignored;  // a relative path is good enough where the working folder is gone
  auto absolute = std::filesystem::absolute(path, ignored);
  return {.path = absolute.empty() ? path : absolute.lexically_normal(),
          .size_bytes = static_cast<std::uint64_t>(status.st_size),
          .mtime_ns = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec,
          .inode = std::uint64_t{status.st_ino}};
}

Result<FileStamp> stamp_file(const std::filesystem::path& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) {
    return fail(Errc::kSamplesMissing, fmt::format("{}: {}", path.string(), std::strerror(errno)));
  }
  if (!S_ISREG(status.st_mode)) {
    return fail(Errc::kSamplesMissing, fmt::format("{}: not a plain file", path.string()));
  }
  return make_stamp(path, status);
}

Result<void> check_stamp(const FileStamp& stamp) {
  const auto now = stamp_file(stamp.path);
  const auto refuse = [&](std::string_view why) {
    return fail(Errc::kSamplesChanged, fmt::format("{}: {}", stamp.path.string(), why));
  };
  if (!now) return refuse("is no longer there");
  if (now->inode != stamp.inode) return refuse("was replaced by another file");
  if (now->size_bytes != stamp.size_bytes) {
    return refuse(fmt::format("had {} bytes, now has {}", stamp.size_bytes, now->size_bytes));
  }
  if (now->mtime_ns != stamp.mtime_ns) return refuse("was written to");
  return {};
}

std::string stamps_text(std::span<const FileStamp> stamps) {
  std::string text;
  for (const auto& stamp : stamps) {
    const auto& path = stamp.path.native();
    fmt::format_to(std::back_inserter(text), "{} {} {} {}\n", stamp.size_bytes, stamp.mtime_ns,
                   path.size(), path);
  }
  return text;
}

}  // namespace wide::data
