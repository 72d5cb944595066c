#include "wide/train/script_computer.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "wide/base/check.h"
#include "wide/base/philox.h"
#include "wide/train/or_failure.h"

namespace wide::train {

namespace {

constexpr std::uint32_t kTrainPurpose = 0x73637274;  // "scrt"
constexpr std::uint32_t kEvalPurpose = 0x73637265;   // "scre"

std::int64_t extent(std::uint64_t count) { return static_cast<std::int64_t>(count); }

// The process's generator, for as long as it lives, seeded with a word of ours.
class DrawnNumbers final {
 public:
  DrawnNumbers(bool draws, const RandomStream& stream) {
    if (!draws) return;
    static std::mutex one_at_a_time;
    alone_.emplace(one_at_a_time);
    auto generator = at::detail::getDefaultCPUGenerator();
    const std::scoped_lock lock(generator.mutex());
    generator.set_current_seed(stream.word(0));
  }

 private:
  std::optional<std::unique_lock<std::mutex>> alone_;
};

// Of the same object, not of another that took its address since.
template <class T>
bool is_same(const std::weak_ptr<T>& left, const std::shared_ptr<T>& right) {
  return !left.owner_before(right) && !right.owner_before(left);
}

[[noreturn]] void unfit(const std::string& detail) { throw Failure(Errc::kModelUnfit, detail); }

}  // namespace

ScriptComputer::ScriptComputer(const engine::Job& job, data::DatasetPtr samples,
                               ScriptModule module, std::shared_ptr<const void> place)
    : job_(job),
      space_(samples->space()),
      module_(std::move(module)),
      layout_(module_.layout()),
      reader_(job_, std::move(samples)),
      scorer_(job_.train.loss, space_),
      weights_(layout_, FlatViews::Role::kPlain),
      gradients_(layout_, FlatViews::Role::kPlain),
      place_(std::move(place)) {}

double ScriptComputer::gradient(const engine::Weights& weights, Step step, Unit unit,
                                std::span<float> out) {
  WIDE_CHECK(out.size() == layout_.value_count() && weights->values.size() == out.size());
  return or_failure([&] { return backward_unit(weights, step, unit, out); });
}

double ScriptComputer::backward_unit(const engine::Weights& weights, Step step, Unit unit,
                                     std::span<float> out) {
  const std::uint64_t batch = job_.train.batch;
  reader_.read_train((step * job_.train.units_per_step + unit) * batch, batch);
  const auto& values = weights_.over(weights->values.values.data());
  bring(weights, values);
  module_.restore(values);
  offer_gradients(out);

  const DrawnNumbers numbers(module_.draws_numbers(),
                             RandomStream(job_.seed, kTrainPurpose, step, unit));
  const at::AutoGradMode with_gradients(true);
  const auto answers = answers_to(batch, /*training=*/true);
  if (!answers.requires_grad()) unfit("what forward returns depends on no parameter");
  const auto loss = scorer_.loss_sum(answers, reader_, batch);
  loss.backward();
  take_gradients(out);
  take_buffers(out);
  return *loss.data_ptr<float>();
}

void ScriptComputer::bring(const engine::Weights& weights, const Tensors& values) {
  module_.set_parameters(values, !is_same(brought_, weights));
  brought_ = weights;
}

// Autograd adds to what is there: our zeros, in `out` itself.
void ScriptComputer::offer_gradients(std::span<float> out) {
  std::ranges::fill(out, 0.0f);
  auto& gradients = gradients_.over(out.data());
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (!layout_.tensors[i].is_buffer) module_.own(i).mutable_grad() = gradients[i];
  }
}

void ScriptComputer::take_gradients(std::span<float> out) {
  const at::NoGradGuard no_grad;
  auto& gradients = gradients_.over(out.data());
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (layout_.tensors[i].is_buffer) continue;
    auto& found = module_.own(i).mutable_grad();
    // A gradient of another kind (sparse, say) may have taken the place of ours.
    const bool replaced = found.defined() && !found.is_same(gradients[i]);
    if (replaced) gradients[i].copy_(found.is_sparse() ? found.to_dense() : found).add_(0.0f);
    found.reset();  // `out` is the caller's
  }
}

void ScriptComputer::take_buffers(std::span<float> out) {
  const at::NoGradGuard no_grad;
  auto& views = gradients_.over(out.data());
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (!layout_.tensors[i].is_buffer) continue;
    const auto current = module_.current(i);
    if (current.sizes() != views[i].sizes()) {
      unfit(fmt::format("forward gave buffer '{}' another shape", layout_.tensors[i].name));
    }
    views[i].copy_(current).add_(0.0f);  // no -0.0
  }
}

engine::EvalOutcome ScriptComputer::evaluate(const engine::Weights& weights, std::uint64_t first,
                                             std::uint64_t count) {
  WIDE_CHECK(weights->values.size() == layout_.value_count());
  WIDE_CHECK(first + count <= space_.eval_count);
  return or_failure([&] {
    const at::NoGradGuard no_grad;
    const auto& values = weights_.over(weights->values.values.data());
    engine::EvalOutcome outcome;
    for (std::uint64_t done = 0; done < count; done += job_.eval.batch) {
      bring(weights, values);
      const auto part = evaluate_batch(values, first + done,
                                       std::min<std::uint64_t>(job_.eval.batch, count - done));
      outcome.loss_sum += part.loss_sum;
      outcome.correct_count += part.correct_count;
    }
    return outcome;
  });
}

engine::EvalOutcome ScriptComputer::evaluate_batch(const Tensors& values, std::uint64_t first,
                                                   std::uint64_t count) {
  reader_.read_eval(first, count);
  module_.restore(values);
  const DrawnNumbers numbers(module_.draws_numbers(), RandomStream(job_.seed, kEvalPurpose, first));
  const auto answers = answers_to(count, /*training=*/false);
  engine::EvalOutcome outcome;
  outcome.loss_sum = *scorer_.loss_sum(answers, reader_, count).data_ptr<float>();
  outcome.correct_count = scorer_.correct_count(answers, reader_, count);
  return outcome;
}

at::Tensor ScriptComputer::batch_of(std::uint64_t count) {
  std::vector<std::int64_t> shape{extent(count)};
  shape.insert(shape.end(), space_.sample_shape.begin(), space_.sample_shape.end());
  return space_.tokens ? at::from_blob(reader_.tokens(), shape, at::kLong)
                       : at::from_blob(reader_.values(), shape, at::kFloat);
}

at::Tensor ScriptComputer::answers_to(std::uint64_t count, bool training) {
  return fitted(module_.forward(batch_of(count), training), count);
}

// As rows, one per target place, or a complaint that says what was needed.
at::Tensor ScriptComputer::fitted(const at::Tensor& answers, std::uint64_t count) const {
  const auto rows = extent(scorer_.row_count(count));
  const std::int64_t places = rows / extent(count);
  const std::int64_t width = space_.output_count();
  const bool exact = space_.class_count == 0 || job_.train.loss == engine::Loss::kMse;
  const auto shape = answers.sizes();
  const bool per_row = shape.size() == 2 && shape[0] == rows;
  const bool per_place =
      places > 1 && shape.size() == 3 && shape[0] == extent(count) && shape[1] == places;
  const bool lone_value =
      space_.class_count == 0 && width == 1 && shape.size() == 1 && shape[0] == rows;
  const bool wide_enough =
      lone_value || (!shape.empty() && (exact ? shape.back() == width : shape.back() >= width));
  if (!answers.is_floating_point() || !(per_row || per_place || lone_value) || !wide_enough) {
    unfit(
        fmt::format("forward gave {} of shape [{}] for {} samples; [{}, {}{}] of floats is needed",
                    c10::toString(answers.scalar_type()), fmt::join(shape, ", "), count,
                    places > 1 ? fmt::format("{}, {}", count, places) : fmt::format("{}", count),
                    exact ? "" : "at least ", width));
  }
  return answers.reshape({rows, lone_value ? 1 : shape.back()}).to(at::kFloat);
}

}  // namespace wide::train
