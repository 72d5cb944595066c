#include "wide/data/remembered.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "wide/base/bytes.h"
#include "wide/base/digest.h"
#include "wide/base/log.h"
#include "wide/data/aside_file.h"

namespace wide::data {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::vector<std::byte> read_bytes(const std::filesystem::path& path, std::size_t bytes_max) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::byte> bytes;
  constexpr std::size_t kStep = 64u << 10;
  while (file && bytes.size() <= bytes_max) {
    const auto had = bytes.size();
    bytes.resize(had + kStep);
    file.read(reinterpret_cast<char*>(bytes.data() + had), kStep);
    bytes.resize(had + static_cast<std::size_t>(file.gcount()));
  }
  return bytes;
}

}  // namespace

Note::Note(const std::filesystem::path& cache_folder, std::string_view purpose,
           std::span<const FileStamp> stamps)
    : key_(fmt::format("{}\n{}", purpose, stamps_text(stamps))) {
  if (!cache_folder.empty()) {
    path_ = cache_folder / fmt::format("note-{}", sha256(key_).short_hex());
  }
}

std::optional<std::vector<std::byte>> Note::read(std::size_t value_bytes_max) const {
  if (path_.empty()) return std::nullopt;
  const auto frame_bytes = key_.size() + 2 * sizeof(std::uint64_t);
  const auto bytes = read_bytes(path_, frame_bytes + value_bytes_max);
  ByteReader reader(bytes);
  const bool ours = std::ranges::equal(reader.raw(key_.size()), bytes_of(key_));
  const auto value_bytes = reader.get<std::uint64_t>();
  if (!ours || !reader.ok() || value_bytes > value_bytes_max) return std::nullopt;

  const auto value = reader.raw(value_bytes);
  const auto checked = std::span(bytes).first(reader.position());
  const auto checksum = reader.get<std::uint64_t>();
  if (!reader.ok() || reader.left() > 0 || checksum != xxh3(checked)) return std::nullopt;
  return std::vector<std::byte>(value.begin(), value.end());
}

void Note::write(std::span<const std::byte> value) const {
  if (path_.empty()) return;
  ByteWriter writer(key_.size() + value.size() + 2 * sizeof(std::uint64_t));
  writer.raw(bytes_of(key_));
  writer.put(std::uint64_t{value.size()});
  writer.raw(value);
  auto bytes = writer.take();
  const auto checksum = xxh3(bytes);
  const auto tail = std::as_bytes(std::span(&checksum, 1));
  bytes.insert(bytes.end(), tail.begin(), tail.end());

  auto file = AsideFile::create(path_);
  auto done = file ? file->write(bytes) : Result<void>(tl::unexpected(file.error()));
  if (done) done = file->commit();
  if (!done) log::detail("note not written: {}", done.error().detail);
}

}  // namespace wide::data
