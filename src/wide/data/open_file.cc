#include "wide/data/open_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

namespace wide::data {
namespace {

tl::unexpected<Error> refuse(const std::filesystem::path& path, std::string_view why) {
  return fail(Errc::kSamplesMissing, fmt::format("{}: {}", path.string(), why));
}

}  // namespace

Result<OpenFile> OpenFile::open(const std::filesystem::path& path) {
  // O_NONBLOCK: a named pipe in the file's place must not make us wait for a writer.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return refuse(path, std::strerror(errno));
  OpenFile opened(file, {});
  struct stat status = {};
  if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
    return refuse(path, "not a plain file");
  }
  opened.stamp_ = make_stamp(path, status);
  return opened;
}

OpenFile::OpenFile(int file, FileStamp stamp) : file_(file), stamp_(std::move(stamp)) {}

OpenFile::OpenFile(OpenFile&& other) noexcept
    : file_(std::exchange(other.file_, -1)), stamp_(std::move(other.stamp_)) {}

OpenFile::~OpenFile() {
  if (file_ >= 0) ::close(file_);
}

Result<void> OpenFile::unchanged() const {
  struct stat status = {};
  if (::fstat(file_, &status) == 0 && make_stamp(stamp_.path, status) == stamp_) return {};
  return fail(Errc::kSamplesChanged, fmt::format("{}: was written to", stamp_.path.string()));
}

}  // namespace wide::data
