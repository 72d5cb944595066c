#pragma once
// Where gradients come from. train/ computes them with libtorch; tests make them up.
//
// Pure in (weights, step, unit): the same answer on every slot, in every process, at every try.
// One instance per slot, used by one thread.

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "wide/base/ids.h"
#include "wide/engine/replica.h"

namespace wide::engine {

struct EvalOutcome {
  double loss_sum = 0;
  std::uint64_t correct_count = 0;
};

class UnitComputer {
 public:
  virtual ~UnitComputer() = default;

  // Writes the unit's gradient (of the sum of its samples' losses) and its buffers to `out`
  // (layout.value_count(), no -0.0) and returns the sum of the losses.
  virtual double gradient(const Weights& weights, Step step, Unit unit, std::span<float> out) = 0;

  // Loss and correct answers over the held-out samples [first, first + count).
  virtual EvalOutcome evaluate(const Weights& weights, std::uint64_t first,
                               std::uint64_t count) = 0;
};

// Makes the slots of one node, all over the same mapped samples.
class ComputerFactory {
 public:
  virtual ~ComputerFactory() = default;
  virtual std::unique_ptr<UnitComputer> make_computer() = 0;
  virtual std::string libraries() const = 0;  // names and versions that may change bits
};

}  // namespace wide::engine
