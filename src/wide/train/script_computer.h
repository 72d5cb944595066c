#pragma once
// One slot over a TorchScript module of its own: computes units' gradients and evaluates, on the
// thread that calls it.
//
// libtorch has one generator of random numbers per process. It is seeded before every unit, and a
// module that draws holds it until the unit is done: slots of one process would only wait for each
// other, so there may be one.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>

#include "wide/engine/unit_computer.h"
#include "wide/train/batch_reader.h"
#include "wide/train/flat_views.h"
#include "wide/train/scorer.h"
#include "wide/train/script_module.h"

namespace wide::train {

class ScriptComputer final : public engine::UnitComputer {
 public:
  // `place` is let go when the computer is: who counts computers counts places.
  ScriptComputer(const engine::Job& job, data::DatasetPtr samples, ScriptModule module,
                 std::shared_ptr<const void> place);

  double gradient(const engine::Weights& weights, Step step, Unit unit,
                  std::span<float> out) override;
  engine::EvalOutcome evaluate(const engine::Weights& weights, std::uint64_t first,
                               std::uint64_t count) override;

 private:
  double backward_unit(const engine::Weights& weights, Step step, Unit unit, std::span<float> out);
  engine::EvalOutcome evaluate_batch(const Tensors& values, std::uint64_t first,
                                     std::uint64_t count);

  void bring(const engine::Weights& weights, const Tensors& values);
  void offer_gradients(std::span<float> out);
  void take_gradients(std::span<float> out);
  void take_buffers(std::span<float> out);

  at::Tensor batch_of(std::uint64_t count);
  at::Tensor answers_to(std::uint64_t count, bool training);
  at::Tensor fitted(const at::Tensor& answers, std::uint64_t count) const;

  engine::Job job_;
  SampleSpace space_;
  ScriptModule module_;
  engine::Layout layout_;
  BatchReader reader_;
  Scorer scorer_;
  FlatViews weights_;
  FlatViews gradients_;
  std::weak_ptr<const engine::WeightsVersion> brought_;  // whose parameters the module has
  std::shared_ptr<const void> place_;
};

}  // namespace wide::train
