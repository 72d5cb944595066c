// From a recipe to samples at hand: files opened, hashed chunk by chunk or remembered, looked at.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "wide/data/chunk_digests.h"
#include "wide/data/file_records.h"
#include "wide/data/file_set.h"
#include "wide/data/number_range.h"
#include "wide/data/recipe.h"
#include "wide/data/remembered.h"
#include "wide/data/table.h"

namespace wide::data {
namespace {

constexpr std::uint64_t kClassCountMax = std::uint64_t{1} << 31;

// Which of a set's files hold whole numbers that must be below class_count: labels, or tokens.
bool has_classes(const Manifest& manifest, std::size_t place) {
  if (manifest.parts[place].count == 0) return false;
  const bool targets = place == kTrainTargets || place == kEvalTargets;
  const auto type = manifest.parts[place].type;
  if (manifest.space.tokens) return type == ElementType::kU16;  // every byte is a token
  return targets && type != ElementType::kF16 && type != ElementType::kF32;
}

tl::unexpected<Error> refuse_number(const ArrayFile& file, StrangeNumber strange,
                                    std::uint32_t class_count) {
  const auto why = strange.value < 0  ? std::string("is negative")
                   : class_count == 0 ? std::string("is too large for a class")
                                      : fmt::format("is not below {}", class_count);
  return fail(Errc::kLabelOutOfRange, fmt::format("{}: label {} of sample {} {}", file.file.name(),
                                                  strange.value, strange.element, why));
}

// Reads one file through: adds its chunks, and returns the largest number that it has.
Result<std::int64_t> read_through(const ArrayFile& file, std::size_t place, Manifest& manifest) {
  const auto& part = manifest.parts[place];
  const auto class_count = manifest.space.class_count;
  NumberRange range(part.type, class_count > 0 ? class_count : kClassCountMax);
  const bool looks = has_classes(manifest, place);
  const auto view = [&](std::uint64_t first, std::span<const std::byte> bytes) -> Result<void> {
    const auto strange = looks ? range.look(first, bytes) : std::nullopt;
    if (strange) return refuse_number(file, *strange, class_count);
    return {};
  };
  auto done = add_chunk_digests(file.file.open, file.begin_bytes, part, view, manifest.chunks);
  if (!done) return tl::unexpected(std::move(done.error()));
  return range.largest();
}

Result<Manifest> read_set(const FileSet& set, Manifest manifest) {
  std::int64_t largest = -1;
  for (std::size_t place = 0; place < set.files.size(); ++place) {
    if (!set.files[place]) continue;
    const auto found = read_through(*set.files[place], place, manifest);
    if (!found) return tl::unexpected(found.error());
    if (has_classes(manifest, place)) largest = std::max(largest, *found);
  }
  auto& class_count = manifest.space.class_count;
  if (class_count == 0) class_count = static_cast<std::uint32_t>(largest + 1);
  if (auto good = settle_manifest(manifest); !good) return tl::unexpected(std::move(good.error()));
  return manifest;
}

// Everything of the recipe that the manifest depends on, beside the files.
std::string purpose_of(const Recipe& recipe) {
  return fmt::format("manifest 1 format={} context={} fraction={:a} classes={}",
                     static_cast<int>(recipe.format), recipe.context, recipe.eval_fraction,
                     recipe.class_count);
}

// A note is believed where it says of the files what their headers say.
bool agrees(const Manifest& remembered, const Manifest& surveyed) {
  const auto& one = remembered.space;
  const auto& other = surveyed.space;
  return remembered.parts == surveyed.parts && one.train_count == other.train_count &&
         one.eval_count == other.eval_count && one.sample_shape == other.sample_shape &&
         one.tokens == other.tokens && one.target_count == other.target_count &&
         remembered.eval_fraction == surveyed.eval_fraction &&
         (other.class_count == 0 || one.class_count == other.class_count);
}

Result<Manifest> complete(const Recipe& recipe, const FileSet& set, Manifest surveyed,
                          const std::filesystem::path& cache_folder) {
  const Note note(cache_folder, purpose_of(recipe), set.stamps());
  if (const auto value = note.read(kManifestBytesMax)) {
    auto remembered = decode_manifest(*value);
    if (remembered && agrees(*remembered, surveyed)) return remembered;
  }
  auto manifest = read_set(set, std::move(surveyed));
  if (!manifest) return manifest;
  const auto bytes = encode_manifest(*manifest);
  manifest->space.sha256 = sha256(bytes);
  note.write(bytes);
  return manifest;
}

}  // namespace

Result<DatasetPtr> open_files(const Recipe& recipe, const std::filesystem::path& cache_folder) {
  auto set = open_file_set(recipe, cache_folder);
  if (!set) return tl::unexpected(std::move(set.error()));
  auto surveyed = survey(recipe, *set);
  if (!surveyed) return tl::unexpected(std::move(surveyed.error()));
  auto complete_one = complete(recipe, *set, std::move(*surveyed), cache_folder);
  if (!complete_one) return tl::unexpected(std::move(complete_one.error()));

  auto manifest = std::make_shared<const Manifest>(std::move(*complete_one));
  auto records = std::make_unique<const FileRecords>(std::move(*set), manifest);
  return std::make_shared<const Table>(std::move(manifest), normalising_of(recipe),
                                       std::move(records));
}

}  // namespace wide::data
