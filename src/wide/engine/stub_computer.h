#pragma once
// Made-up gradients for tests, for the simulator and for a node without libtorch: pure in (seed,
// weights, step, unit), quick, and hard on whoever adds or applies them wrongly.
//
//   gradient   ± m · 2^e with e from -20 to 3, so that the order of additions shows in the bits,
//              plus a hundredth of the weight, so that a wrong replica shows and weights stay
//              finite
//   buffers    nine tenths of the replica's buffer plus a tenth of a made-up value
//   loss       falls with the steps, with noise per unit and a trace of the first weights

#include <cstdint>
#include <memory>
#include <string>

#include "wide/engine/job.h"
#include "wide/engine/layout.h"
#include "wide/engine/unit_computer.h"

namespace wide::engine {

class StubComputer final : public UnitComputer {
 public:
  StubComputer(std::uint64_t seed, std::uint32_t batch, std::uint64_t parameter_count,
               std::uint64_t buffer_count);

  double gradient(const Weights& weights, Step step, Unit unit, std::span<float> out) override;
  EvalOutcome evaluate(const Weights& weights, std::uint64_t first, std::uint64_t count) override;

 private:
  std::uint64_t seed_;
  std::uint32_t batch_;
  std::uint64_t parameter_count_;
  std::uint64_t buffer_count_;
};

class StubFactory final : public ComputerFactory {
 public:
  StubFactory(const Job& job, const Layout& layout);

  std::unique_ptr<UnitComputer> make_computer() override;
  std::string libraries() const override { return "made-up gradients 1"; }

 private:
  std::uint64_t seed_;
  std::uint32_t batch_;
  std::uint64_t parameter_count_ = 0;
  std::uint64_t buffer_count_ = 0;
};

}  // namespace wide::engine
