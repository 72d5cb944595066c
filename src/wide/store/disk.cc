#include "wide/store/disk.h"

#include <fmt/format.h>

#include <utility>

namespace wide::store {
namespace {

constexpr std::string_view kAsideMark = ".aside";

std::string_view base_name(std::string_view name) {
  const auto slash = name.rfind('/');
  return slash == std::string_view::npos ? name : name.substr(slash + 1);
}

Result<void> fill_and_sync(Disk& disk, std::string_view name, Pieces pieces) {
  const auto file = disk.open(name, Open::kAnew);
  if (!file) return tl::unexpected(file.error());
  return (*file)->append(pieces).and_then([&] { return (*file)->sync(); });
}

// People know the file by its name, not by the one it has until it is whole.
Error told_of(Error error, std::string_view aside_path, std::string_view path) {
  if (error.detail.starts_with(aside_path)) error.detail.replace(0, aside_path.size(), path);
  return error;
}

}  // namespace

std::string_view folder_of(std::string_view name) {
  const auto slash = name.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : name.substr(0, slash);
}

std::string aside_name(std::string_view name) {
  const auto last = base_name(name);
  return fmt::format("{}.{}{}", name.substr(0, name.size() - last.size()), last, kAsideMark);
}

bool is_aside(std::string_view name) {
  const auto last = base_name(name);
  return last.starts_with('.') && last.find(kAsideMark) != std::string_view::npos;
}

Result<std::vector<std::byte>> read_whole(Disk& disk, std::string_view name) {
  const auto file = disk.open(name, Open::kRead);
  if (!file) return tl::unexpected(file.error());
  std::vector<std::byte> bytes((*file)->size_bytes());
  if (auto done = (*file)->read(0, bytes); !done) return tl::unexpected(std::move(done.error()));
  return bytes;
}

Result<void> write_whole(Disk& disk, std::string_view name, Pieces pieces) {
  return write_whole_through(disk, aside_name(name), name, pieces);
}

Result<void> write_whole_through(Disk& disk, std::string_view aside, std::string_view name,
                                 Pieces pieces) {
  auto done = fill_and_sync(disk, aside, pieces).and_then([&] { return disk.rename(aside, name); });
  if (!done) {
    (void)disk.remove(aside);  // what went wrong first is what matters
    return tl::unexpected(told_of(std::move(done.error()), disk.path(aside), disk.path(name)));
  }
  return disk.sync_folder(folder_of(name));
}

}  // namespace wide::store
