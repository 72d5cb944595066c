#include "wide/engine/job_validate.h"

#include <fmt/format.h>

#include <cfloat>
#include <cmath>
#include <limits>

#include "wide/engine/job_kinds.h"
#include "wide/engine/job_size.h"

namespace wide::engine {

namespace {

constexpr std::size_t kLayerCountMax = 64;
constexpr std::uint32_t kBlockCountMax = 1024;  // of a gpt
constexpr std::uint32_t kDepthMin = 8;          // of a resnet
constexpr std::uint32_t kDepthMax = 1202;
constexpr std::uint32_t kContextMax = 1u << 20;
constexpr std::size_t kNameBytesMax = 128;
constexpr std::size_t kPathBytesMax = 4096;
constexpr std::uint32_t kBatchMax = 1u << 24;
constexpr std::uint32_t kUnitsMax = 1u << 20;
constexpr std::uint32_t kSyntheticValuesMax = 1u << 28;  // samples × features
constexpr std::uint64_t kStepsMax = std::uint64_t{1} << 48;
constexpr double kSpanMax = 1e9;  // epochs, seconds

// Keeps the first demand that was not met. Conditions are written so that NaN does not meet them.
class Examiner final {
 public:
  template <class Value>
  void demand(bool met, std::string_view section, std::string_view key, std::string_view must,
              const Value& value, Errc code = Errc::kOutOfRange) {
    if (met || found_) return;
    found_ = Violation{code, fmt::format("{}.{}", section, key),
                       fmt::format("[{}] {} must be {}, not {}", section, key, must, value)};
  }
  void refuse(bool wrong, std::string_view section, std::string_view key, std::string_view text) {
    if (!wrong || found_) return;
    found_ = Violation{Errc::kOutOfRange, fmt::format("{}.{}", section, key),
                       fmt::format("[{}] {}", section, text)};
  }
  void misfit(std::string_view section, std::string_view key, std::string_view text) {
    if (found_) return;
    found_ = Violation{Errc::kModelMisfit, fmt::format("{}.{}", section, key),
                       fmt::format("[{}] {}", section, text)};
  }

  std::optional<Violation> found() const { return found_; }

 private:
  std::optional<Violation> found_;
};

bool is_finite_float(double value) { return value >= -FLT_MAX && value <= FLT_MAX; }
bool is_rate(double value) { return value >= 0 && value <= FLT_MAX; }
bool is_fraction(double value) { return value >= 0 && value < 1; }

// Not through a terminal, a log line or a path: a job's text comes from others.
bool has_control_letter(std::string_view text) {
  for (const char letter : text) {
    if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f) return true;
  }
  return false;
}

bool has_zero(const std::vector<std::uint32_t>& sizes) {
  for (const auto size : sizes) {
    if (size == 0) return true;
  }
  return false;
}

void examine_path(const std::string& path, std::string_view section, std::string_view key,
                  Examiner& examiner) {
  examiner.demand(path.size() <= kPathBytesMax, section, key,
                  fmt::format("at most {} bytes long", kPathBytesMax), path.size());
  examiner.refuse(has_control_letter(path), section, key,
                  fmt::format("{} has a control character", key));
}

void examine_heading(const Job& job, Examiner& examiner) {
  examiner.demand(!job.name.empty() && job.name.size() <= kNameBytesMax, "job", "name",
                  fmt::format("1 to {} bytes long", kNameBytesMax), job.name.size());
  examiner.refuse(has_control_letter(job.name), "job", "name", "name has a control character");
  examiner.demand(job.seed <= std::numeric_limits<std::int64_t>::max(), "job", "seed", "below 2^63",
                  job.seed);
}

void examine_mlp(const Job& job, Examiner& examiner) {
  const auto& layers = job.model.layers;
  examiner.refuse(layers.size() < 2, "model", "layers",
                  "an mlp needs layers, at least its input and its output: layers = [784, 10]");
  examiner.demand(layers.size() <= kLayerCountMax, "model", "layers",
                  fmt::format("at most {} sizes", kLayerCountMax), layers.size());
  examiner.refuse(has_zero(layers), "model", "layers", "layers has a size of 0");
  examiner.refuse(job.model.batch_norm && job.train.batch == 1, "model", "batch_norm",
                  "batch_norm in an mlp needs a batch of at least 2");
}

void examine_cnn(const Job& job, Examiner& examiner) {
  const auto& channels = job.model.channels;
  examiner.demand(!channels.empty() && channels.size() <= kLayerCountMax, "model", "channels",
                  fmt::format("1 to {} sizes", kLayerCountMax), channels.size());
  examiner.refuse(has_zero(channels), "model", "channels", "channels has a size of 0");
  examiner.demand(job.model.hidden > 0, "model", "hidden", "at least 1", job.model.hidden);
}

void examine_resnet(const Job& job, Examiner& examiner) {
  const auto depth = job.model.depth;
  examiner.demand(depth >= kDepthMin && depth <= kDepthMax && depth % 6 == 2, "model", "depth",
                  fmt::format("6n + 2, {} to {}", kDepthMin, kDepthMax), depth);
  examiner.demand(job.model.width > 0, "model", "width", "at least 1", job.model.width);
}

void examine_gpt(const Job& job, Examiner& examiner) {
  const auto& model = job.model;
  examiner.demand(model.layer_count > 0 && model.layer_count <= kBlockCountMax, "model", "layers",
                  fmt::format("1 to {}", kBlockCountMax), model.layer_count);
  examiner.demand(model.heads > 0, "model", "heads", "at least 1", model.heads);
  examiner.demand(model.width > 0, "model", "width", "at least 1", model.width);
  if (model.heads == 0) return;
  examiner.demand(model.width % model.heads == 0, "model", "width",
                  fmt::format("a multiple of heads, which is {}", model.heads), model.width);
  examiner.demand(model.vocabulary > 0, "model", "vocabulary", "at least 1", model.vocabulary);
}

// What a model has before it sees its samples is a lower bound of what it will have.
void examine_size(const Model& model, Examiner& examiner) {
  if (examiner.found() || parameter_count(model, {}) <= static_cast<double>(kParametersMax)) return;
  const std::string_view key = model.kind == ModelKind::kMlp      ? "layers"
                               : model.kind == ModelKind::kCnn    ? "channels"
                               : model.kind == ModelKind::kResnet ? "width"
                                                                  : "kind";
  examiner.refuse(
      true, "model", key,
      fmt::format("{} of this size has more than 2^31 parameters", name_of(model.kind)));
}

void examine_model(const Job& job, Examiner& examiner) {
  const auto& model = job.model;
  if (model.kind == ModelKind::kMlp) examine_mlp(job, examiner);
  if (model.kind == ModelKind::kCnn) examine_cnn(job, examiner);
  if (model.kind == ModelKind::kResnet) examine_resnet(job, examiner);
  if (model.kind == ModelKind::kGpt) examine_gpt(job, examiner);
  examiner.demand(is_fraction(model.dropout), "model", "dropout", "at least 0 and below 1",
                  model.dropout);
  examiner.demand(model.context > 0 && model.context <= kContextMax, "model", "context",
                  fmt::format("1 to {}", kContextMax), model.context);
  examine_path(model.file, "model", "file", examiner);
  examine_size(model, examiner);
  if (!goes_with(model.kind, job.samples.kind)) {
    examiner.misfit(
        "model", "kind",
        fmt::format("{} cannot learn {}", name_of(model.kind), name_of(job.samples.kind)));
  }
}

void examine_synthetic(const Samples& samples, Examiner& examiner) {
  examiner.demand(samples.count > 0, "data", "samples", "at least 1", samples.count);
  examiner.demand(samples.features > 0, "data", "features", "at least 1", samples.features);
  examiner.demand(samples.classes > 0, "data", "classes", "at least 1", samples.classes);
  const auto values = std::uint64_t{samples.count} * samples.features;
  examiner.demand(values <= kSyntheticValuesMax, "data", "samples",
                  fmt::format("at most {} values in all", kSyntheticValuesMax), values);
  examiner.refuse(samples.ship == Ship::kAlways, "data", "ship",
                  "ship = \"always\" means nothing here: nodes make synthetic samples themselves");
}

void examine_samples(const Samples& samples, Examiner& examiner) {
  if (samples.kind == SampleKind::kSynthetic) return examine_synthetic(samples, examiner);
  examine_path(samples.path, "data", "path", examiner);
  examine_path(samples.labels, "data", "labels", examiner);
  examiner.demand(is_finite_float(samples.mean), "data", "mean", "a finite number", samples.mean);
  // A smaller one would be no number, or divide to one, in float32.
  examiner.demand(samples.deviation >= FLT_MIN && is_finite_float(samples.deviation), "data", "std",
                  "a finite number above 0", samples.deviation);
}

void examine_eval(const Job& job, Examiner& examiner) {
  const auto& eval = job.eval;
  examiner.demand(eval.batch > 0 && eval.batch <= kBatchMax, "eval", "batch",
                  fmt::format("1 to {}", kBatchMax), eval.batch);
  examiner.demand(eval.every <= kStepsMax, "eval", "every", "at most 2^48", eval.every);
  examiner.demand(is_fraction(eval.fraction), "eval", "fraction", "at least 0 and below 1",
                  eval.fraction);
  examine_path(eval.path, "eval", "path", examiner);
  examine_path(eval.labels, "eval", "labels", examiner);
  examiner.refuse(eval.fraction != 0 && !eval.path.empty(), "eval", "fraction",
                  "takes path or fraction, not both");
  if (!has_labels(job.samples.kind)) return;
  examiner.refuse(!eval.path.empty() && eval.labels.empty(), "eval", "path",
                  "path needs labels beside it: the labels of the samples held out");
  examiner.refuse(eval.path.empty() && !eval.labels.empty(), "eval", "labels",
                  "labels needs path beside it: the samples held out");
}

void examine_extent(const Train& train, Examiner& examiner) {
  examiner.demand(train.batch > 0 && train.batch <= kBatchMax, "train", "batch",
                  fmt::format("1 to {}", kBatchMax), train.batch);
  examiner.demand(train.units_per_step > 0 && train.units_per_step <= kUnitsMax, "train",
                  "units_per_step", fmt::format("1 to {}", kUnitsMax), train.units_per_step);
  examiner.demand(train.block_units > 0 && train.block_units <= train.units_per_step, "train",
                  "block_units", "1 to units_per_step", train.block_units);
  examiner.demand(train.epochs >= 0 && train.epochs <= kSpanMax, "train", "epochs",
                  "above 0 and at most 1e9", train.epochs);
  examiner.demand(train.steps <= kStepsMax, "train", "steps", "1 to 2^48", train.steps);
  examiner.demand(train.seconds >= 0 && train.seconds <= kSpanMax, "train", "seconds",
                  "above 0 and at most 1e9", train.seconds);
  const int ends = (train.epochs != 0) + (train.steps != 0) + (train.seconds != 0);
  const auto* last = train.seconds != 0 ? "seconds" : train.steps != 0 ? "steps" : "epochs";
  examiner.refuse(ends != 1, "train", last, "needs one of epochs, steps and seconds, and only one");
}

void examine_schedule(const Train& train, Examiner& examiner) {
  examiner.demand(is_rate(train.lr), "train", "lr", "a finite number, at least 0", train.lr);
  examiner.demand(train.warmup_steps <= kStepsMax, "train", "warmup_steps", "at most 2^48",
                  train.warmup_steps);
  if (train.schedule != Schedule::kStep) return;
  examiner.demand(train.decay_every_steps > 0 && train.decay_every_steps <= kStepsMax, "train",
                  "decay_every_steps", "1 to 2^48", train.decay_every_steps);
  examiner.demand(train.decay_rate > 0 && train.decay_rate <= 1, "train", "decay_rate",
                  "above 0 and at most 1", train.decay_rate);
}

void examine_optimizer(const Train& train, Examiner& examiner) {
  examiner.demand(is_rate(train.weight_decay), "train", "weight_decay",
                  "a finite number, at least 0", train.weight_decay);
  examiner.demand(is_rate(train.clip_norm), "train", "clip_norm", "a finite number, at least 0",
                  train.clip_norm);
  if (train.optimizer == OptimizerKind::kSgd) {
    examiner.demand(is_fraction(train.momentum), "train", "momentum", "at least 0 and below 1",
                    train.momentum);
    examiner.refuse(train.nesterov && train.momentum == 0, "train", "nesterov",
                    "nesterov needs a momentum above 0");
    return;
  }
  examiner.demand(is_fraction(train.beta1), "train", "betas", "at least 0 and below 1",
                  train.beta1);
  examiner.demand(is_fraction(train.beta2), "train", "betas", "at least 0 and below 1",
                  train.beta2);
  // Below the smallest normal float it would round to nothing and 0 / 0 would follow.
  examiner.demand(train.eps >= FLT_MIN && is_finite_float(train.eps), "train", "eps",
                  "a finite number of at least 1.2e-38", train.eps);
}

void examine_codec(const Job& job, Examiner& examiner) {
  const Coding& codec = job.codec;
  examiner.refuse(codec.gradient == LossyPlan::kPowersgd, "codec", "gradient",
                  "powersgd remembers earlier steps, and a gradient may not");
  examiner.demand(codec.budget > 0 && codec.budget <= 1, "codec", "budget", "above 0, at most 1",
                  codec.budget);
  // What is chosen by measuring depends on the machines: no other run need choose the same.
  const bool by_measuring = job.train.exact == Exact::kBits;
  examiner.refuse(by_measuring && codec.gradient == LossyPlan::kAuto, "codec", "gradient",
                  "\"auto\" is not for exact = \"bits\": the choice depends on the network");
  examiner.refuse(by_measuring && codec.update == LossyPlan::kAuto, "codec", "update",
                  "\"auto\" is not for exact = \"bits\": the choice depends on the network");
}

}  // namespace

std::optional<Violation> find_violation(const Job& job) {
  Examiner examiner;
  examine_heading(job, examiner);
  examine_model(job, examiner);
  examine_samples(job.samples, examiner);
  examine_extent(job.train, examiner);
  examine_schedule(job.train, examiner);
  examine_optimizer(job.train, examiner);
  examine_eval(job, examiner);
  examine_codec(job, examiner);
  examiner.demand(job.delay <= kDelayMax, "strategy", "delay", fmt::format("at most {}", kDelayMax),
                  job.delay);
  return examiner.found();
}

Result<void> validate(const Job& job) {
  if (auto violation = find_violation(job)) return fail(violation->code, violation->text);
  return {};
}

}  // namespace wide::engine
