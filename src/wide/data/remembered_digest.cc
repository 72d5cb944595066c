#include "wide/data/remembered_digest.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "wide/base/log.h"
#include "wide/data/aside_file.h"

namespace wide::data {
namespace {

constexpr std::string_view kDigestWord = "sha256 ";

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::optional<Digest> parse_hex(std::string_view hex) {
  Digest digest;
  if (hex.size() != 2 * digest.bytes.size()) return std::nullopt;
  for (std::size_t i = 0; i < digest.bytes.size(); ++i) {
    unsigned value = 0;
    const char* pair = hex.data() + 2 * i;
    const auto [end, error] = std::from_chars(pair, pair + 2, value, 16);
    if (error != std::errc() || end != pair + 2) return std::nullopt;
    digest.bytes[i] = static_cast<std::byte>(value);
  }
  return digest;
}

std::string note_text(std::string_view key, const Digest& digest) {
  auto text = fmt::format("{}{}{}\n", key, kDigestWord, digest.hex());
  return fmt::format("{}xxh3 {:016x}\n", text, xxh3(bytes_of(text)));
}

// The digest, where the note is exactly what would be written for it.
std::optional<Digest> parse_note(std::string_view note, std::string_view key) {
  const auto hex_at = key.size() + kDigestWord.size();
  if (!note.starts_with(key) || note.size() < hex_at) return std::nullopt;
  const auto digest = parse_hex(note.substr(hex_at, 64));
  if (!digest || note_text(key, *digest) != note) return std::nullopt;
  return digest;
}

// No more than `size_max` characters: what lies there may be anything.
std::string read_text(const std::filesystem::path& path, std::size_t size_max) {
  std::string text(size_max, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

void write_note(const std::filesystem::path& path, std::string_view text) {
  auto file = AsideFile::create(path);
  auto done = file ? file->write(bytes_of(text)) : Result<void>(tl::unexpected(file.error()));
  if (done) done = file->commit();
  if (!done) log::detail("digest not remembered: {}", done.error().detail);
}

}  // namespace

Digest remembered_digest(const std::filesystem::path& cache_folder, std::string_view purpose,
                         std::span<const FileStamp> stamps,
                         const std::function<Digest()>& compute) {
  if (cache_folder.empty()) return compute();
  const auto key = fmt::format("{}\n{}", purpose, stamps_text(stamps));
  const auto path = cache_folder / fmt::format("sha256-{}.txt", sha256(key).short_hex());

  const auto note_bytes_max = note_text(key, Digest()).size() + 1;
  if (const auto found = parse_note(read_text(path, note_bytes_max), key)) return *found;
  const auto digest = compute();
  write_note(path, note_text(key, digest));
  return digest;
}

}  // namespace wide::data
