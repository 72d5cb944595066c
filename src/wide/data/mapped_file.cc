#include "wide/data/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
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

Result<std::span<const std::byte>> map(int file, const FileStamp& stamp) {
  if (stamp.size_bytes == 0) return std::span<const std::byte>();  // mmap refuses zero bytes
  void* start = ::mmap(nullptr, stamp.size_bytes, PROT_READ, MAP_PRIVATE, file, 0);
  if (start == MAP_FAILED) return refuse(stamp.path, std::strerror(errno));
  return std::span(static_cast<const std::byte*>(start), stamp.size_bytes);
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  // O_NONBLOCK: a named pipe in the file's place must not make us wait for a writer.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return refuse(path, std::strerror(errno));

  struct stat status = {};
  const bool is_plain = ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  if (!is_plain) {
    ::close(file);
    return refuse(path, "not a plain file");
  }
  auto stamp = make_stamp(path, status);
  auto mapped = map(file, stamp);
  ::close(file);  // the mapping holds on to the file by itself
  if (!mapped) return tl::unexpected(std::move(mapped.error()));
  return MappedFile(*mapped, std::move(stamp));
}

MappedFile::MappedFile(std::span<const std::byte> bytes, FileStamp stamp)
    : bytes_(bytes), stamp_(std::move(stamp)) {}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})), stamp_(std::move(other.stamp_)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  std::swap(stamp_, other.stamp_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace wide::data
