// wide-reference JOB.toml: the same training as a pool's, as one plain loop over the
// units in order, and prints the SHA-256 of the weights.
//
// Written apart from the engine, for comparison with it: only the job, the genesis, the samples, a
// unit's gradient and the codecs are shared. Summing, dividing, clipping and the update rules are
// here once more, one value at a time, as docs and formulas say and with no thought of speed.

#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "wide/codec/lossy.h"
#include "wide/codec/low_rank.h"
#include "wide/data/dataset.h"
#include "wide/engine/job.h"
#include "wide/engine/layout.h"
#include "wide/net/open_samples.h"
#include "wide/train/script_file.h"
#include "wide/train/torch_factory.h"

namespace {

using namespace wide;
using Vector = std::vector<float>;

// --- the tree
// -------------------------------------------------------------------------------------

// Leaves first … first + count - 1: the left half is the widest power of two that leaves a right.
template <class Value>
Value sum_of_tree(std::uint64_t first, std::uint64_t count,
                  const std::function<Value(std::uint64_t)>& leaf,
                  const std::function<Value(const Value&, const Value&)>& add) {
  if (count == 1) return leaf(first);
  const std::uint64_t left_count = std::bit_floor(count - 1);
  const Value left = sum_of_tree<Value>(first, left_count, leaf, add);
  const Value right = sum_of_tree<Value>(first + left_count, count - left_count, leaf, add);
  return add(left, right);
}

Vector add_vectors(const Vector& left, const Vector& right) {
  Vector sum(left.size());
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = left[i] + right[i];
  return sum;
}

// --- what a step needs beside the gradient
// --------------------------------------------------------

// Squares in runs of 4096, in each run eight sums side by side, the runs in a tree.
double norm_of(const Vector& gradient) {
  constexpr std::uint64_t kRun = 4096;
  const auto run_sum = [&](std::uint64_t run) {
    std::array<double, 8> sums{};
    for (std::uint64_t i = 0; i < kRun && run * kRun + i < gradient.size(); ++i) {
      const double value = gradient[run * kRun + i];
      sums[i % 8] += value * value;
    }
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
           ((sums[4] + sums[5]) + (sums[6] + sums[7]));
  };
  const auto runs = (gradient.size() + kRun - 1) / kRun;
  return std::sqrt(sum_of_tree<double>(0, runs, run_sum, std::plus<double>()));
}

double rate_at(const engine::Train& train, std::uint64_t step, std::uint64_t step_count) {
  double warmup = 1;
  if (step < train.warmup_steps) warmup = double(step + 1) / double(train.warmup_steps);
  double decay = 1;
  if (train.schedule == engine::Schedule::kCosine && step_count > 0) {
    const double done = double(step) / double(step_count);
    decay = (1 + std::cos(std::numbers::pi * (done < 1 ? done : 1))) / 2;
  } else if (train.schedule == engine::Schedule::kStep) {
    decay = std::pow(train.decay_rate, double(step / train.decay_every_steps));
  }
  return train.lr * warmup * decay;
}

float clip_at(const engine::Train& train, const Vector& gradient) {
  if (train.clip_norm == 0) return 1;
  const double factor = train.clip_norm / (norm_of(gradient) + 1e-6);
  return static_cast<float>(factor < 1 ? factor : 1);
}

// --- the update rules
// -----------------------------------------------------------------------------

struct Model {
  Vector weights;  // parameters
  Vector buffers;
  Vector first;   // momentum, or adam's mean
  Vector second;  // adam's mean of squares
};

void update_by_sgd(const engine::Train& train, double rate, const Vector& gradient, float clip,
                   Model& model) {
  const float lr = static_cast<float>(rate);
  const float momentum = static_cast<float>(train.momentum);
  const float weight_decay = static_cast<float>(train.weight_decay);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    float g = gradient[i] * clip;
    g = g + weight_decay * model.weights[i];
    float direction = g;
    if (train.momentum != 0) {
      model.first[i] = momentum * model.first[i] + g;
      direction = train.nesterov ? g + momentum * model.first[i] : model.first[i];
    }
    model.weights[i] = model.weights[i] - lr * direction;
  }
}

void update_by_adam(const engine::Train& train, double rate, std::uint64_t step,
                    const Vector& gradient, float clip, Model& model) {
  const bool decoupled = train.optimizer == engine::OptimizerKind::kAdamW;
  const double updates = double(step + 1);
  const float step_size = static_cast<float>(rate / (1 - std::pow(train.beta1, updates)));
  const float root = static_cast<float>(std::sqrt(1 - std::pow(train.beta2, updates)));
  const float keep = static_cast<float>(1 - rate * train.weight_decay);
  const float weight_decay = static_cast<float>(train.weight_decay);
  const float beta1 = static_cast<float>(train.beta1);
  const float beta2 = static_cast<float>(train.beta2);
  const float rest1 = static_cast<float>(1 - train.beta1);
  const float rest2 = static_cast<float>(1 - train.beta2);
  const float eps = static_cast<float>(train.eps);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    float w = model.weights[i];
    float g = gradient[i] * clip;
    if (decoupled) w = w * keep;
    if (!decoupled) g = g + weight_decay * w;
    model.first[i] = beta1 * model.first[i] + rest1 * g;
    model.second[i] = beta2 * model.second[i] + rest2 * g * g;
    const float below = std::sqrt(model.second[i]) / root + eps;
    model.weights[i] = w - step_size * model.first[i] / below;
  }
}

// --- codecs
// ---------------------------------------------------------------------------------------

// A gradient becomes what its code decodes to; buffers behind it stay as they are.
void code_block(const engine::Job& job, std::uint64_t step, std::uint64_t block,
                std::size_t parameter_count, Vector& value) {
  const auto codec = engine::fixed(job.codec.gradient);
  if (codec == codec::Lossy::kNone) return;
  const auto gradient = std::span(value).first(parameter_count);
  std::vector<std::byte> coded(codec::coded_bytes(codec, parameter_count));
  const codec::Rounding rounding{job.seed, step, static_cast<std::uint32_t>(block)};
  codec::encode_unbiased(codec, gradient, rounding, coded);
  value_or_throw(codec::decode(codec, coded, gradient));
}

// What an update becomes, and what it loses to the next.
class UpdateMemory final {
 public:
  UpdateMemory(const engine::Job& job, const engine::Layout& layout)
      : codec_(engine::fixed(job.codec.update)), lost_(layout.parameter_count, 0.0f) {
    if (codec_ != codec::Lossy::kPowersgd) return;
    std::vector<codec::Matrix> matrices;
    for (const auto& tensor : layout.tensors) {
      if (tensor.is_buffer) continue;
      matrices.push_back({tensor.offset, tensor.shape[0], tensor.size / tensor.shape[0]});
    }
    low_rank_.emplace(std::move(matrices));
    memory_.resize(low_rank_->memory_count());
    low_rank_->begin(job.seed, memory_);
  }

  bool lossy() const { return codec_ != codec::Lossy::kNone; }

  void code(Vector& change) {
    std::vector<std::byte> coded(low_rank_ ? low_rank_->coded_bytes()
                                           : codec::coded_bytes(codec_, change.size()));
    if (low_rank_) {
      low_rank_->encode_with_feedback(change, lost_, memory_, coded);
      value_or_throw(low_rank_->decode(coded, change));
    } else {
      codec::encode_with_feedback(codec_, change, lost_, coded);
      value_or_throw(codec::decode(codec_, coded, change));
    }
  }

 private:
  codec::Lossy codec_;
  Vector lost_;
  Vector memory_;
  std::optional<codec::LowRank> low_rank_;
};

// --- the loop
// -------------------------------------------------------------------------------------

class Loop final {
 public:
  Loop(const engine::Job& job, const engine::Genesis& genesis, const data::DatasetPtr& samples)
      : job_(job),
        layout_(genesis.layout),
        step_count_(job.step_count(samples->space().train_count)),
        updates_(job, layout_),
        computer_(
            train::make_torch_factory(job, layout_, samples, job.model.file)->make_computer()) {
    const Vector& values = genesis.values;
    const auto split = values.begin() + static_cast<std::ptrdiff_t>(layout_.parameter_count);
    model_.weights.assign(values.begin(), split);
    model_.buffers.assign(split, values.end());
    model_.first.assign(layout_.parameter_count, 0.0f);
    model_.second.assign(layout_.parameter_count, 0.0f);
  }

  void run() {
    for (std::uint64_t step = 0; step < step_count_; ++step) take_step(step);
  }

  std::string weights_sha256() const {
    const auto values = all_values();
    return sha256(std::as_bytes(std::span(values))).hex();
  }

 private:
  Vector all_values() const {
    Vector values = model_.weights;
    values.insert(values.end(), model_.buffers.begin(), model_.buffers.end());
    return values;
  }

  engine::Weights shared_weights(std::uint64_t step) {
    const auto values = all_values();
    auto version = std::make_shared<engine::WeightsVersion>();
    version->step = step;
    version->values = take_floats(buffers_, values.size());
    std::copy(values.begin(), values.end(), version->values.values.begin());
    return version;
  }

  // Those before the step, or, with a delay, so many updates before them.
  engine::Weights weights_for(std::uint64_t step) {
    versions_.push_back(shared_weights(step));
    if (versions_.size() > job_.delay + 1) versions_.pop_front();
    return versions_.front();
  }

  // A step is a tree of blocks, a block a tree of units.
  Vector gradient_sum(std::uint64_t step) {
    const auto weights = weights_for(step);
    const auto unit_gradient = [&](std::uint64_t unit) {
      Vector out(layout_.value_count());
      computer_->gradient(weights, step, static_cast<Unit>(unit), out);
      return out;
    };
    const std::uint64_t width = job_.train.block_units;
    const auto block_sum = [&](std::uint64_t block) {
      const auto units_left = job_.train.units_per_step - block * width;
      const auto count = units_left < width ? units_left : width;
      Vector sum = sum_of_tree<Vector>(block * width, count, unit_gradient, add_vectors);
      code_block(job_, step, block, layout_.parameter_count, sum);
      return sum;
    };
    return sum_of_tree<Vector>(0, job_.blocks_per_step(), block_sum, add_vectors);
  }

  void take_step(std::uint64_t step) {
    const Vector sum = gradient_sum(step);
    const float samples = static_cast<float>(job_.samples_per_step());
    const float units = static_cast<float>(job_.train.units_per_step);
    Vector gradient(layout_.parameter_count);
    for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] = sum[i] / samples;
    for (std::size_t i = 0; i < model_.buffers.size(); ++i) {
      model_.buffers[i] = sum[gradient.size() + i] / units;
    }
    const double rate = rate_at(job_.train, step, step_count_);
    const float clip = clip_at(job_.train, gradient);
    const Vector before = model_.weights;
    if (job_.train.optimizer == engine::OptimizerKind::kSgd) {
      update_by_sgd(job_.train, rate, gradient, clip, model_);
    } else {
      update_by_adam(job_.train, rate, step, gradient, clip, model_);
    }
    if (updates_.lossy()) add_coded_change(before);
  }

  // The optimiser has said where the weights ought to go; they go where the code of that leads.
  void add_coded_change(const Vector& before) {
    Vector change(before.size());
    for (std::size_t i = 0; i < change.size(); ++i) change[i] = model_.weights[i] - before[i];
    updates_.code(change);
    for (std::size_t i = 0; i < change.size(); ++i) model_.weights[i] = before[i] + change[i];
  }

  engine::Job job_;
  engine::Layout layout_;
  std::uint64_t step_count_;
  UpdateMemory updates_;
  std::unique_ptr<engine::UnitComputer> computer_;
  BufferPool buffers_;
  Model model_;
  std::deque<engine::Weights> versions_;
};

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

data::DatasetPtr open_samples(const engine::Job& job) {
  const auto cache = data::cache_folder(environment("XDG_CACHE_HOME"), environment("HOME"));
  return value_or_throw(net::open_samples(job, net::files_as_named(job), cache));
}

// A TorchScript job is not whole before the hash of its file is in it.
engine::Genesis complete(engine::Job& job, const SampleSpace& space) {
  if (job.model.kind != engine::ModelKind::kTorchScript) return engine::make_genesis(job, space);
  auto script = value_or_throw(train::read_script_file(job.model.file));
  job.model.sha256 = script.sha256;
  return std::move(script.genesis);
}

engine::Job read_job(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Failure(Errc::kJobUnreadable, path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return value_or_throw(engine::parse_job(text, path));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: wide-reference JOB.toml (one that ends by steps)\n");
    return 2;
  }
  try {
    auto job = read_job(argv[1]);
    const auto samples = open_samples(job);
    value_or_throw(engine::validate_fit(job, samples->space()));
    const auto genesis = complete(job, samples->space());
    Loop loop(job, genesis, samples);
    loop.run();
    std::printf("%s\n", loop.weights_sha256().c_str());
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "wide-reference: %s\n", failure.what());
    return 1;
  }
  return 0;
}
