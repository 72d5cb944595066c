// Whether a model can learn the samples that were found: what a job alone cannot tell.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "wide/engine/job.h"
#include "wide/engine/job_kinds.h"
#include "wide/engine/job_size.h"

namespace wide::engine {

namespace {

constexpr double kCarriedBytesMax = 1 << 28;

template <class... Facts>
Result<void> misfit(fmt::format_string<Facts...> text, Facts&&... facts) {
  return fail(Errc::kModelMisfit, fmt::format(text, std::forward<Facts>(facts)...));
}

Result<void> fit_mlp(const Model& model, const SampleSpace& space) {
  if (model.layers.size() < 2) return misfit("[model] an mlp needs layers");
  if (model.layers.front() != space.sample_size()) {
    return misfit("[model] layers begins with {}, but a sample has {} values", model.layers.front(),
                  space.sample_size());
  }
  if (model.layers.back() != space.output_count()) {
    return misfit("[model] layers ends with {}, but the samples have {} {}", model.layers.back(),
                  space.output_count(), space.class_count != 0 ? "classes" : "target values");
  }
  return {};
}

Result<void> fit_cnn(const Model& model, const SampleSpace& space) {
  const auto shorter = std::min(space.sample_shape[1], space.sample_shape[2]);
  if (model.channels.size() >= 32 || shorter >> model.channels.size() == 0) {
    return misfit("[model] {} channels halve a sample of {} × {} down to nothing",
                  model.channels.size(), space.sample_shape[1], space.sample_shape[2]);
  }
  return {};
}

// Of rows or columns, after two convolutions with a stride of two.
std::uint64_t quartered(std::uint32_t extent) { return (std::uint64_t{extent} + 3) / 4; }

Result<void> fit_resnet(const Job& job, const SampleSpace& space) {
  constexpr std::uint32_t kExtentMin = 4;
  const auto rows = space.sample_shape[1];
  const auto columns = space.sample_shape[2];
  if (rows < kExtentMin || columns < kExtentMin) {
    return misfit("a resnet needs samples of at least 4 × 4, not {} × {}", rows, columns);
  }
  // Batch-norm has no variance to divide by where a channel has one value in the whole batch.
  if (job.train.batch == 1 && quartered(rows) * quartered(columns) == 1) {
    return misfit("[train] batch must be at least 2 for a resnet on samples of {} × {}", rows,
                  columns);
  }
  return {};
}

Result<void> fit_gpt(const Model& model, const SampleSpace& space) {
  if (space.sample_shape != std::vector<std::uint32_t>{model.context}) {
    return misfit("[model] context is {}, but a sample has {} tokens", model.context,
                  space.sample_size());
  }
  if (model.vocabulary < space.class_count) {
    return fail(
        Errc::kTokenOutOfRange,
        fmt::format("[model] vocabulary is {}, but the samples have tokens up to {} (text: bytes)",
                    model.vocabulary, space.class_count - 1));
  }
  return {};
}

Result<void> fit_rank(const Model& model, const SampleSpace& space) {
  if (model.kind == ModelKind::kTorchScript) return {};
  const bool gpt = model.kind == ModelKind::kGpt;
  if (gpt && !space.tokens) return misfit("a gpt needs text or tokens, not samples of values");
  if (!gpt && space.tokens) return misfit("{} cannot read tokens", name_of(model.kind));
  const bool images = model.kind == ModelKind::kCnn || model.kind == ModelKind::kResnet;
  if (images && space.sample_shape.size() != 3) {
    return misfit("{} needs samples of channels × rows × columns, not {}", name_of(model.kind),
                  fmt::join(space.sample_shape, " × "));
  }
  return {};
}

Result<void> fit_shape(const Job& job, const SampleSpace& space) {
  switch (job.model.kind) {
    case ModelKind::kMlp:
      return fit_mlp(job.model, space);
    case ModelKind::kCnn:
      return fit_cnn(job.model, space);
    case ModelKind::kResnet:
      return fit_resnet(job, space);
    case ModelKind::kGpt:
      return fit_gpt(job.model, space);
    case ModelKind::kTorchScript:
      break;
  }
  return {};
}

// Values may only be met by squares; classes may be either scored or met as one-hot values.
Result<void> fit_loss(const Job& job, const SampleSpace& space) {
  if (space.class_count == 0 && job.train.loss == Loss::kCrossEntropy) {
    return misfit(
        "[train] loss = \"cross-entropy\" needs classes, but the samples' targets are values: "
        "loss = \"mse\"");
  }
  return {};
}

// What travels with a lease is one message.
Result<void> fit_carried(const Job& job, const SampleSpace& space) {
  if (job.samples.ship != Ship::kAlways) return {};
  const double block = static_cast<double>(job.train.batch) * job.train.block_units;
  const double samples = std::max(block, static_cast<double>(job.eval.batch));
  const double bytes = samples * static_cast<double>(space.carried_bytes);
  if (bytes <= kCarriedBytesMax) return {};
  return fail(Errc::kOutOfRange,
              fmt::format("ship = \"always\" would send {:.0f} MB with every lease, at most {:.0f} "
                          "can be; make batch or block_units smaller",
                          bytes / 1e6, kCarriedBytesMax / 1e6));
}

}  // namespace

Result<void> validate_fit(const Job& job, const SampleSpace& space) {
  if (auto fit = fit_rank(job.model, space); !fit) return fit;
  if (auto fit = fit_shape(job, space); !fit) return fit;
  if (auto fit = fit_loss(job, space); !fit) return fit;
  if (auto fit = fit_carried(job, space); !fit) return fit;
  if (parameter_count(job.model, space) > static_cast<double>(kParametersMax)) {
    return misfit("{} of this size has more than 2^31 parameters", name_of(job.model.kind));
  }
  if (job.train.batch > space.train_count) {
    return fail(Errc::kTooFewSamples, fmt::format("[train] batch is {}, but there are {} samples",
                                                  job.train.batch, space.train_count));
  }
  return {};
}

}  // namespace wide::engine
