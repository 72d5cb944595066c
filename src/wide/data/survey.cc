// What the headers of a set of files say: shapes, counts, types, and whether they fit together.

#include <fmt/format.h>

#include <limits>
#include <string_view>
#include <utility>

#include "wide/data/fashion_mnist.h"
#include "wide/data/file_set.h"

namespace wide::data {
namespace {

tl::unexpected<Error> refuse(const ArrayFile& file, std::string_view why,
                             Errc code = Errc::kSamplesCorrupt) {
  return fail(code, fmt::format("{}: {}", file.file.name(), why));
}

bool is_float(ElementType type) { return type == ElementType::kF16 || type == ElementType::kF32; }

// Images have a channel: idx files and arrays of bytes leave out the only one of grey ones.
Result<std::vector<std::uint32_t>> sample_shape(Format format, const ArrayFile& samples) {
  std::vector<std::uint32_t> shape;
  for (const auto extent : samples.inner()) {
    if (extent == 0) return refuse(samples, "its samples have no values");
    if (extent > std::numeric_limits<std::uint32_t>::max()) {
      return refuse(samples, fmt::format("an extent of {} is too large", extent));
    }
    shape.push_back(static_cast<std::uint32_t>(extent));
  }
  const bool bytes = samples.type == ElementType::kU8;
  if (shape.size() == 2 && (format != Format::kNpy || bytes)) shape.insert(shape.begin(), 1);
  if (shape.empty()) shape.push_back(1);
  return shape;
}

Result<void> check_samples(Format format, const ArrayFile& samples) {
  if (format == Format::kFashionMnist && samples.extents.size() != 3) {
    return refuse(samples, "holds no images (rank is not 3)");
  }
  if (samples.count() == 0) return refuse(samples, "holds no samples", Errc::kTooFewSamples);
  return {};
}

// How many targets a sample has.
Result<std::uint32_t> check_targets(const ArrayFile& targets, const ArrayFile& samples) {
  if (targets.extents.size() > 2) {
    return refuse(targets,
                  fmt::format("holds no labels (its shape is {})", extents_text(targets.extents)));
  }
  if (targets.count() != samples.count()) {
    return refuse(targets,
                  fmt::format("{} labels for {} samples", targets.count(), samples.count()));
  }
  const auto width = targets.extents.size() == 2 ? targets.extents[1] : 1;
  if (width == 0 || width > kChunkBytesMax) {
    return refuse(targets, fmt::format("{} values for a sample", width));
  }
  if (width > 1 && !is_float(targets.type)) {
    return refuse(targets, fmt::format("holds {} labels for a sample; classes have one", width));
  }
  return static_cast<std::uint32_t>(width);
}

Result<void> check_alike(const ArrayFile& train, const ArrayFile& eval, std::string_view what) {
  if (train.type != eval.type) {
    return refuse(eval,
                  fmt::format("its values are of another type than the {} to train on", what));
  }
  if (std::ranges::equal(train.inner(), eval.inner())) return {};
  return refuse(eval, fmt::format("{} of {}, those to train on have {}", what,
                                  extents_text(eval.inner()), extents_text(train.inner())));
}

class Surveyor final {
 public:
  Surveyor(const Recipe& recipe, const FileSet& set) : recipe_(recipe), set_(set) {}

  Result<Manifest> arrays();
  Result<Manifest> text();

 private:
  Result<void> add_part(PartPlace place, std::uint64_t count, std::uint64_t elements,
                        std::uint64_t stride);
  Result<void> add_array(PartPlace place);
  Result<void> add_text(PartPlace place);
  Result<Manifest> held_out();

  const ArrayFile& file(PartPlace place) const { return *set_.files[place]; }

  const Recipe& recipe_;
  const FileSet& set_;
  Manifest manifest_;
  std::uint64_t chunk_count_ = 0;
};

Result<void> Surveyor::add_part(PartPlace place, std::uint64_t count, std::uint64_t elements,
                                std::uint64_t stride) {
  const auto part = make_part(file(place).type, count, elements, stride, chunk_count_);
  if (!part) return refuse(file(place), part.error().detail);
  manifest_.parts[place] = *part;
  chunk_count_ += part->chunk_count();
  return {};
}

Result<void> Surveyor::add_array(PartPlace place) {
  std::uint64_t elements = 1;
  for (const auto extent : file(place).inner()) elements *= extent;  // as many bytes are there
  return add_part(place, file(place).count(), elements, elements);
}

Result<Manifest> Surveyor::arrays() {
  const bool apart = set_.files[kEvalSamples].has_value();
  auto& space = manifest_.space;
  for (const auto place : {kTrainSamples, kEvalSamples}) {
    if (!set_.files[place]) continue;
    const auto targets_place = static_cast<PartPlace>(place + 1);
    if (auto good = check_samples(recipe_.format, file(place)); !good) {
      return tl::unexpected(std::move(good.error()));
    }
    const auto width = check_targets(file(targets_place), file(place));
    if (!width) return tl::unexpected(width.error());
    space.target_count = *width;
  }
  if (apart) {
    auto good = check_alike(file(kTrainSamples), file(kEvalSamples), "samples");
    if (good) good = check_alike(file(kTrainTargets), file(kEvalTargets), "labels");
    if (!good) return tl::unexpected(std::move(good.error()));
  }
  auto shape = sample_shape(recipe_.format, file(kTrainSamples));
  if (!shape) return tl::unexpected(std::move(shape.error()));
  space.sample_shape = std::move(*shape);
  const bool classes = !is_float(file(kTrainTargets).type);
  const bool fashion = recipe_.format == Format::kFashionMnist;
  space.class_count = !classes ? 0 : fashion ? kFashionClassCount : recipe_.class_count;
  for (const auto place : {kTrainSamples, kTrainTargets, kEvalSamples, kEvalTargets}) {
    if (!set_.files[place]) continue;
    if (auto good = add_array(place); !good) return tl::unexpected(std::move(good.error()));
  }
  return held_out();
}

Result<void> Surveyor::add_text(PartPlace place) {
  const auto tokens = file(place).count();
  const std::uint64_t context = recipe_.context;
  if (tokens <= context) {
    return refuse(file(place),
                  fmt::format("{} tokens are too few for a sample of {} and one that follows",
                              tokens, context),
                  Errc::kTooFewSamples);
  }
  return add_part(place, (tokens - 1) / context, context + 1, context);
}

Result<Manifest> Surveyor::text() {
  auto& space = manifest_.space;
  space.tokens = true;
  space.sample_shape = {recipe_.context};
  space.target_count = recipe_.context;
  space.class_count = recipe_.format == Format::kText ? 256 : 0;
  for (const auto place : {kTrainSamples, kEvalSamples}) {
    if (!set_.files[place]) continue;
    if (auto good = add_text(place); !good) return tl::unexpected(std::move(good.error()));
  }
  return held_out();
}

Result<Manifest> Surveyor::held_out() {
  const auto count = manifest_.parts[kTrainSamples].count;
  const auto place = manifest_.space.tokens ? HoldOut::Place::kAtEnd : HoldOut::Place::kSpaced;
  const HoldOut held(count, recipe_.eval_fraction, place);
  if (recipe_.eval_fraction > 0 && held.eval_count() == 0) {
    return refuse(
        file(kTrainSamples),
        fmt::format("{} samples are too few to hold out {} of them", count, recipe_.eval_fraction),
        Errc::kTooFewSamples);
  }
  manifest_.eval_fraction = recipe_.eval_fraction;
  manifest_.space.train_count = held.train_count();
  const bool apart = manifest_.parts[kEvalSamples].count > 0;
  manifest_.space.eval_count = apart ? manifest_.parts[kEvalSamples].count : held.eval_count();
  return std::move(manifest_);
}

}  // namespace

Result<Manifest> survey(const Recipe& recipe, const FileSet& set) {
  const bool text = recipe.format == Format::kText || recipe.format == Format::kTokens;
  Surveyor surveyor(recipe, set);
  return text ? surveyor.text() : surveyor.arrays();
}

}  // namespace wide::data
