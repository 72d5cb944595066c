#pragma once
// One slot over a built-in model: computes units' gradients and evaluates, on the thread that calls
// it.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "wide/base/buffer.h"
#include "wide/engine/unit_computer.h"
#include "wide/train/batch_reader.h"
#include "wide/train/flat_views.h"
#include "wide/train/network.h"
#include "wide/train/scorer.h"

namespace wide::train {

class TorchComputer final : public engine::UnitComputer {
 public:
  TorchComputer(const engine::Job& job, const engine::Layout& layout, data::DatasetPtr samples);

  double gradient(const engine::Weights& weights, Step step, Unit unit,
                  std::span<float> out) override;
  engine::EvalOutcome evaluate(const engine::Weights& weights, std::uint64_t first,
                               std::uint64_t count) override;

 private:
  double backward_unit(const engine::Weights& weights, Step step, Unit unit, std::span<float> out);
  engine::EvalOutcome evaluate_batch(Tensors& weights, std::uint64_t first, std::uint64_t count);

  void make_masks();
  void fill_masks(Step step, Unit unit);
  void begin_gradient(const engine::WeightsVersion& weights, std::span<float> out) const;
  void finish_gradient(const Tensors& leaves, std::span<float> out) const;

  at::Tensor batch_of(std::uint64_t count);

  engine::Job job_;
  engine::Layout layout_;
  SampleSpace space_;
  std::unique_ptr<Network> network_;
  BatchReader reader_;
  Scorer scorer_;
  FlatViews leaves_;     // over weights
  FlatViews gradients_;  // over what the caller wants filled
  std::vector<at::Tensor> masks_;
  Buffer mask_floats_;
};

}  // namespace wide::train
