#include "wide/data/aside_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "wide/base/check.h"

namespace wide::data {
namespace {

constexpr int kNameTries = 100;  // names left behind by killed processes with our number

tl::unexpected<Error> cannot_write(const std::filesystem::path& target, std::string_view why) {
  return fail(Errc::kCannotWrite, fmt::format("{}: {}", target.string(), why));
}

std::filesystem::path next_aside_name(const std::filesystem::path& target) {
  static std::atomic<unsigned> count = 0;
  auto name = fmt::format(".{}.aside-{}-{}", target.filename().string(), ::getpid(), count++);
  return target.parent_path() / name;
}

}  // namespace

Result<AsideFile> AsideFile::create(const std::filesystem::path& target) {
  std::error_code error;
  if (target.has_parent_path()) std::filesystem::create_directories(target.parent_path(), error);
  if (error) return cannot_write(target, error.message());

  for (int attempt = 0; attempt < kNameTries; ++attempt) {
    auto aside = next_aside_name(target);
    const int file = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0) return AsideFile(file, std::move(aside), target);
    if (errno != EEXIST) break;
  }
  return cannot_write(target, std::strerror(errno));
}

AsideFile::AsideFile(int file, std::filesystem::path aside, std::filesystem::path target)
    : file_(file), aside_(std::move(aside)), target_(std::move(target)) {}

AsideFile::AsideFile(AsideFile&& other) noexcept
    : file_(std::exchange(other.file_, -1)),
      aside_(std::move(other.aside_)),
      target_(std::move(other.target_)) {}

AsideFile::~AsideFile() {
  if (file_ < 0) return;
  ::close(file_);
  ::unlink(aside_.c_str());
}

Result<void> AsideFile::write(std::span<const std::byte> bytes) {
  WIDE_CHECK(file_ >= 0, "written after commit");
  while (!bytes.empty()) {
    const auto count = ::write(file_, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) return refuse();
    if (count > 0) bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

Result<void> AsideFile::commit() {
  WIDE_CHECK(file_ >= 0, "committed twice");
  if (::fsync(file_) != 0) return refuse();
  return commit_unsynced();
}

Result<void> AsideFile::commit_unsynced() {
  WIDE_CHECK(file_ >= 0, "committed twice");
  if (::rename(aside_.c_str(), target_.c_str()) != 0) return refuse();
  ::close(std::exchange(file_, -1));
  return {};
}

tl::unexpected<Error> AsideFile::refuse() const {
  return cannot_write(target_, std::strerror(errno));
}

}  // namespace wide::data
