#include "wide/data/table.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "wide/base/check.h"
#include "wide/data/fashion_mnist.h"

namespace wide::data {

Table::Table(std::shared_ptr<const Manifest> manifest, Normalising normalising,
             std::unique_ptr<const RecordSource> source)
    : manifest_(std::move(manifest)),
      finder_(*manifest_),
      decoder_(*manifest_, normalising),
      source_(std::move(source)) {}

void Table::load_train(std::uint64_t index, const SampleRoom& room) const {
  WIDE_CHECK(index < manifest_->space.train_count, "no such sample");
  const auto record = source_->at(finder_.train(index));
  decoder_.decode(record.sample, record.targets, room);
}

void Table::load_eval(std::uint64_t index, const SampleRoom& room) const {
  WIDE_CHECK(index < manifest_->space.eval_count, "no such sample");
  const auto record = source_->at(finder_.eval(index));
  decoder_.decode(record.sample, record.targets, room);
}

Normalising normalising_of(const Recipe& recipe) {
  if (recipe.format == Format::kFashionMnist) return {kFashionMean, kFashionDeviation};
  return {recipe.mean, recipe.deviation};
}

Result<void> check_goes_with(const Recipe& recipe, const Manifest& manifest) {
  const auto type = manifest.parts[kTrainSamples].type;
  const bool tokens = manifest.space.tokens;
  const auto fits = [&](bool good, std::string_view kind) -> Result<void> {
    if (good) return {};
    return fail(Errc::kSamplesCorrupt, fmt::format("manifest: its samples are not {}", kind));
  };
  switch (recipe.format) {
    case Format::kFashionMnist:
      return fits(!tokens && type == ElementType::kU8 &&
                      manifest.space.class_count == kFashionClassCount &&
                      manifest.space.sample_shape.size() == 3,
                  "images of fashion");
    case Format::kIdx:
      return fits(!tokens && type == ElementType::kU8, "arrays of bytes");
    case Format::kNpy:
      return fits(!tokens, "arrays");
    case Format::kText:
      return fits(tokens && type == ElementType::kU8, "text");
    case Format::kTokens:
      return fits(tokens && type == ElementType::kU16, "tokens");
  }
  WIDE_CHECK(false, "no such format");
  return {};
}

}  // namespace wide::data
