#include "wide/engine/job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace wide::engine {

std::uint64_t Job::step_count(std::uint64_t train_samples) const {
  if (train.steps != 0) return train.steps;
  if (train.epochs == 0) return 0;
  // 0.07 epochs of 100 samples are 7 samples, not the 7.000000000000001 of binary fractions.
  const double wanted = train.epochs * static_cast<double>(train_samples);
  const auto whole = static_cast<std::uint64_t>(std::ceil(wanted * (1 - 1e-12)));
  return std::max<std::uint64_t>(1, (whole + samples_per_step() - 1) / samples_per_step());
}

Digest job_id(const Job& job, const Digest& samples_sha256) {
  return Sha256().update(identity_text(job)).update(samples_sha256.bytes).finish();
}

namespace {

Result<void> validate_mlp(const Model& model, const SampleSpace& space) {
  if (model.layers.front() != space.sample_size()) {
    return fail(Errc::kModelMisfit,
                fmt::format("[model] layers begins with {}, but a sample has {} values",
                            model.layers.front(), space.sample_size()));
  }
  if (model.layers.back() != space.class_count) {
    return fail(Errc::kModelMisfit,
                fmt::format("[model] layers ends with {}, but the samples have {} classes",
                            model.layers.back(), space.class_count));
  }
  return {};
}

Result<void> validate_cnn(const Model& model, const SampleSpace& space) {
  if (space.sample_shape.size() != 3) {
    return fail(Errc::kModelMisfit,
                fmt::format("a cnn needs samples of channels × rows × columns, not {}",
                            fmt::join(space.sample_shape, " × ")));
  }
  const auto shorter = std::min(space.sample_shape[1], space.sample_shape[2]);
  if (model.channels.size() >= 32 || shorter >> model.channels.size() == 0) {
    return fail(Errc::kModelMisfit,
                fmt::format("[model] {} channels halve a sample of {} × {} down to nothing",
                            model.channels.size(), space.sample_shape[1], space.sample_shape[2]));
  }
  return {};
}

// In double: a misfit by far must not wrap around to a small count.
double parameters_of_cnn(const Model& model, const SampleSpace& space) {
  double count = 0;
  double from = space.sample_shape[0];
  for (const double to : model.channels) {
    count += to * (from * 9 + 1);
    from = to;
  }
  const auto halvings = model.channels.size();
  const double area =
      double(space.sample_shape[1] >> halvings) * double(space.sample_shape[2] >> halvings);
  return count + model.hidden * (from * area + 1) + space.class_count * (model.hidden + 1.0);
}

}  // namespace

Result<void> validate_fit(const Job& job, const SampleSpace& space) {
  const auto fit = job.model.kind == ModelKind::kMlp ? validate_mlp(job.model, space)
                                                     : validate_cnn(job.model, space);
  if (!fit) return fit;
  if (job.model.kind == ModelKind::kCnn && parameters_of_cnn(job.model, space) > kParametersMax) {
    return fail(Errc::kModelMisfit, "the cnn would have more than 2^31 parameters");
  }
  if (job.train.batch > space.train_count) {
    return fail(Errc::kTooFewSamples, fmt::format("[train] batch is {}, but there are {} samples",
                                                  job.train.batch, space.train_count));
  }
  return {};
}

}  // namespace wide::engine
