// Does a manifest hold together? Every number in it may be a stranger's: parts are measured before
// anything is multiplied.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "wide/data/manifest.h"

namespace wide::data {
namespace {

constexpr std::size_t kRankMax = 32;
constexpr std::uint64_t kChunkCountMax = (kManifestBytesMax - 1024) / sizeof(Digest::bytes);

tl::unexpected<Error> refuse(std::string_view why) {
  return fail(Errc::kSamplesCorrupt, fmt::format("manifest: {}", why));
}

Result<void> check_shape(const SampleSpace& space) {
  const auto& shape = space.sample_shape;
  if (shape.empty() || shape.size() > kRankMax) {
    return refuse(fmt::format("samples of rank {}", shape.size()));
  }
  std::uint64_t size = 1;
  for (const auto extent : shape) {
    if (extent == 0) return refuse("samples of no values");
    if (size > kChunkBytesMax / extent) return refuse("samples are too large");
    size *= extent;
  }
  return {};
}

Result<void> check_parts(const Manifest& manifest) {
  std::uint64_t chunk_count = 0;
  for (const auto& part : manifest.parts) {
    if (part == Part{}) continue;
    if (auto good = check_part(part); !good) return refuse(good.error().detail);
    if (part.first_chunk != chunk_count) return refuse("chunks are not numbered in a row");
    chunk_count += part.chunk_count();
    if (chunk_count > kChunkCountMax) return refuse("too many chunks");
  }
  if (manifest.parts[kTrainSamples].count == 0) return refuse("nothing to train on");
  return {};
}

Result<void> check_tokens(const Manifest& manifest) {
  const auto& space = manifest.space;
  const auto& part = manifest.parts[kTrainSamples];
  const auto context = space.sample_shape[0];
  const auto vocabulary_max = part.type == ElementType::kU8 ? 256u : 65536u;
  if (part.type != ElementType::kU8 && part.type != ElementType::kU16) {
    return refuse("tokens are bytes or 16-bit numbers");
  }
  if (space.sample_shape.size() != 1 || space.target_count != context ||
      part.record_elements != std::uint64_t{context} + 1 || part.stride_elements != context) {
    return refuse("tokens do not follow one another");
  }
  if (space.class_count == 0 || space.class_count > vocabulary_max) {
    return refuse(fmt::format("a vocabulary of {}", space.class_count));
  }
  if (manifest.parts[kTrainTargets].count > 0) return refuse("tokens have no targets of their own");
  return {};
}

bool is_float(ElementType type) { return type == ElementType::kF16 || type == ElementType::kF32; }

Result<void> check_arrays(const Manifest& manifest) {
  const auto& space = manifest.space;
  const auto& samples = manifest.parts[kTrainSamples];
  const auto& targets = manifest.parts[kTrainTargets];
  if (samples.type == ElementType::kU16 || targets.type == ElementType::kU16) {
    return refuse("only tokens are 16-bit numbers");
  }
  if (samples.record_elements != space.sample_size() ||
      samples.stride_elements != samples.record_elements ||
      targets.stride_elements != targets.record_elements) {
    return refuse("records are not of the samples' shape");
  }
  if (targets.count != samples.count) {
    return refuse(fmt::format("{} targets for {} samples", targets.count, samples.count));
  }
  if (targets.record_elements != space.target_count || space.target_count == 0) {
    return refuse(fmt::format("{} targets in a record, {} in a sample", targets.record_elements,
                              space.target_count));
  }
  if (space.class_count == 0 && !is_float(targets.type)) return refuse("labels of no classes");
  if (space.class_count > 0 && (is_float(targets.type) || space.target_count != 1)) {
    return refuse("labels are one whole number each");
  }
  return {};
}

bool alike(const Part& train, const Part& eval) {
  return eval.type == train.type && eval.record_elements == train.record_elements &&
         eval.stride_elements == train.stride_elements;
}

Result<void> check_held_out(const Manifest& manifest) {
  const auto& [samples, targets, eval_samples, eval_targets] = manifest.parts;
  const auto& space = manifest.space;
  const auto fraction = manifest.eval_fraction;
  if (!(fraction >= 0 && fraction < 1) || std::signbit(fraction)) return refuse("no such fraction");

  const auto place = space.tokens ? HoldOut::Place::kAtEnd : HoldOut::Place::kSpaced;
  const HoldOut held(samples.count, fraction, place);
  const bool apart = eval_samples.count > 0;
  if (space.train_count != held.train_count() ||
      space.eval_count != (apart ? eval_samples.count : held.eval_count())) {
    return refuse("its counts contradict its parts");
  }
  if (apart && fraction > 0) return refuse("held out twice");
  if (apart && !alike(samples, eval_samples)) return refuse("held-out samples are of another kind");
  const auto expected_targets = targets.count > 0 ? eval_samples.count : 0;
  if (eval_targets.count != expected_targets) return refuse("held-out targets do not fit");
  if (expected_targets > 0 && !alike(targets, eval_targets)) {
    return refuse("held-out targets are of another kind");
  }
  return {};
}

// Of the records in a chunk those to train on; at least one.
std::uint64_t samples_per_chunk(const Manifest& manifest) {
  const auto& part = manifest.parts[kTrainSamples];
  const auto records = std::min(part.records_per_chunk, part.count);
  const auto share =
      static_cast<double>(manifest.space.train_count) / static_cast<double>(part.count);
  const auto trained =
      manifest.space.tokens
          ? records
          : static_cast<std::uint64_t>(std::floor(static_cast<double>(records) * share));
  return std::clamp<std::uint64_t>(trained, 1, manifest.space.train_count);
}

void fill_in_travel(Manifest& manifest) {
  auto& space = manifest.space;
  space.chunk_count = 0;
  for (const auto& part : manifest.parts) space.chunk_count += part.chunk_count();
  space.samples_per_chunk = samples_per_chunk(manifest);
  space.carried_bytes = manifest.parts[kTrainSamples].record_bytes();
  if (manifest.parts[kTrainTargets].count > 0) {
    space.carried_bytes += manifest.parts[kTrainTargets].record_bytes();
  }
}

}  // namespace

Result<void> settle_manifest(Manifest& manifest) {
  if (auto good = check_shape(manifest.space); !good) return good;
  if (auto good = check_parts(manifest); !good) return good;
  auto good = manifest.space.tokens ? check_tokens(manifest) : check_arrays(manifest);
  if (!good) return good;
  if (good = check_held_out(manifest); !good) return good;
  fill_in_travel(manifest);
  return {};
}

}  // namespace wide::data
