#include "wide/store/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

namespace wide::store {
namespace {

constexpr int kNameTries = 100;  // names left behind by killed processes with our number

class Descriptor final {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }

  bool is_open() const { return number_ >= 0; }
  int number() const { return number_; }
  bool close() { return number_ < 0 || ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

tl::unexpected<Error> refuse(Errc code, const std::filesystem::path& path) {
  return fail(code, fmt::format("{}: {}", path.string(), std::strerror(errno)));
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : ".";
}

std::filesystem::path next_aside_name(const std::filesystem::path& path) {
  static std::atomic<unsigned> count = 0;
  return folder_of(path) /
         fmt::format(".{}.aside-{}-{}", path.filename().string(), ::getpid(), count++);
}

bool write_fully(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) return false;
    if (count > 0) bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

bool sync_folder(const std::filesystem::path& folder) {
  const Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return opened.is_open() && ::fsync(opened.number()) == 0;
}

std::pair<Descriptor, std::filesystem::path> open_aside(const std::filesystem::path& path) {
  for (int attempt = 0; attempt < kNameTries; ++attempt) {
    auto aside = next_aside_name(path);
    Descriptor file(::open(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (file.is_open()) return {std::move(file), std::move(aside)};
    if (errno != EEXIST) break;
  }
  return {Descriptor(-1), std::filesystem::path()};
}

bool fill_and_sync(Descriptor& file, std::span<const std::span<const std::byte>> pieces) {
  for (const auto piece : pieces) {
    if (!write_fully(file.number(), piece)) return false;
  }
  return ::fsync(file.number()) == 0 && file.close();
}

}  // namespace

Result<void> write_atomically(const std::filesystem::path& path,
                              std::span<const std::span<const std::byte>> pieces) {
  auto [file, aside] = open_aside(path);
  if (!file.is_open()) return refuse(Errc::kCannotWrite, path);

  if (!fill_and_sync(file, pieces) || ::rename(aside.c_str(), path.c_str()) != 0) {
    auto refused = refuse(Errc::kCannotWrite, path);  // before unlink changes errno
    ::unlink(aside.c_str());
    return refused;
  }
  if (!sync_folder(folder_of(path))) return refuse(Errc::kCannotWrite, path);
  return {};
}

Result<void> write_atomically(const std::filesystem::path& path, std::string_view text) {
  const std::array pieces = {std::as_bytes(std::span(text.data(), text.size()))};
  return write_atomically(path, pieces);
}

Result<std::vector<std::byte>> read_whole_file(const std::filesystem::path& path, Errc missing,
                                               Errc unreadable) {
  // O_NONBLOCK: a named pipe in the file's place must not make us wait for a writer.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) return refuse(errno == ENOENT ? missing : unreadable, path);
  struct stat status = {};
  if (::fstat(file.number(), &status) != 0) return refuse(unreadable, path);
  if (!S_ISREG(status.st_mode)) {
    return fail(unreadable, fmt::format("{}: not a plain file", path.string()));
  }

  std::vector<std::byte> bytes(static_cast<std::size_t>(status.st_size));
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const auto count = ::read(file.number(), bytes.data() + filled, bytes.size() - filled);
    if (count < 0 && errno != EINTR) return refuse(unreadable, path);
    if (count == 0) break;  // shortened meanwhile
    if (count > 0) filled += static_cast<std::size_t>(count);
  }
  bytes.resize(filled);
  return bytes;
}

}  // namespace wide::store
