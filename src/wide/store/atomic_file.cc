#include "wide/store/atomic_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <utility>

#include "wide/store/real_disk.h"

namespace wide::store {

Result<void> write_atomically(const std::filesystem::path& path,
                              std::span<const std::span<const std::byte>> pieces) {
  static std::atomic<unsigned> count = 0;
  const auto name = path.filename().string();
  const auto aside = fmt::format("{}-{}-{}", aside_name(name), ::getpid(), count++);
  RealDisk disk(path.parent_path());
  return write_whole_through(disk, aside, name, pieces);
}

Result<void> write_atomically(const std::filesystem::path& path, std::string_view text) {
  const std::array pieces = {std::as_bytes(std::span(text.data(), text.size()))};
  return write_atomically(path, pieces);
}

Result<std::vector<std::byte>> read_whole_file(const std::filesystem::path& path, Errc missing,
                                               Errc unreadable) {
  RealDisk disk(path.parent_path());
  auto bytes = read_whole(disk, path.filename().string());
  if (bytes) return bytes;
  const bool is_missing = bytes.error().code == Errc::kRunMissing;
  return fail(is_missing ? missing : unreadable, std::move(bytes.error().detail));
}

}  // namespace wide::store
