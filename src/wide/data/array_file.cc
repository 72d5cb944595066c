#include "wide/data/array_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "wide/base/check.h"
#include "wide/data/idx_file.h"
#include "wide/data/npy_file.h"

namespace wide::data {
namespace {

std::uint64_t offset_in(const MappedFile& file, std::span<const std::byte> values) {
  return file.bytes().size() - values.size();  // values end where the file does
}

Result<ArrayFile> read_idx(PlainFile file) {
  auto idx = parse_idx(file.mapped.bytes(), file.name());
  if (!idx) return tl::unexpected(std::move(idx.error()));
  const auto begin = offset_in(file.mapped, idx->values);
  return ArrayFile{.file = std::move(file),
                   .type = ElementType::kU8,
                   .extents = {idx->extents.begin(), idx->extents.end()},
                   .begin_bytes = begin};
}

Result<ArrayFile> read_npy(PlainFile file) {
  auto npy = parse_npy(file.mapped.bytes(), file.name());
  if (!npy) return tl::unexpected(std::move(npy.error()));
  if (npy->extents.empty()) {
    return fail(Errc::kSamplesCorrupt,
                fmt::format("{}: holds one value, not an array of samples", file.name()));
  }
  const auto begin = offset_in(file.mapped, npy->values);
  return ArrayFile{.file = std::move(file),
                   .type = npy->type,
                   .extents = std::move(npy->extents),
                   .begin_bytes = begin};
}

Result<ArrayFile> read_flat(PlainFile file, ElementType type) {
  const auto bytes = file.mapped.bytes().size();
  if (bytes % element_bytes(type) != 0) {
    return fail(
        Errc::kSamplesCorrupt,
        fmt::format("{}: {} bytes are no whole number of 16-bit tokens", file.name(), bytes));
  }
  return ArrayFile{.file = std::move(file),
                   .type = type,
                   .extents = {bytes / element_bytes(type)},
                   .begin_bytes = 0};
}

}  // namespace

std::string extents_text(std::span<const std::uint64_t> extents) {
  return fmt::format("{}", fmt::join(extents, " × "));
}

Result<ArrayFile> open_array(Format format, const std::filesystem::path& path,
                             const std::filesystem::path& cache_folder) {
  const bool may_be_packed = format != Format::kNpy && format != Format::kTokens;
  auto file = may_be_packed ? open_plain_or_packed(path, cache_folder) : open_plain(path);
  if (!file) return tl::unexpected(std::move(file.error()));
  switch (format) {
    case Format::kFashionMnist:
    case Format::kIdx:
      return read_idx(std::move(*file));
    case Format::kNpy:
      return read_npy(std::move(*file));
    case Format::kText:
      return read_flat(std::move(*file), ElementType::kU8);
    case Format::kTokens:
      return read_flat(std::move(*file), ElementType::kU16);
  }
  WIDE_CHECK(false, "no such format");
  return fail(Errc::kBug, "no such format");
}

}  // namespace wide::data
