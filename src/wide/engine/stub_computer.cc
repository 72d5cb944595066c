#include "wide/engine/stub_computer.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "wide/base/check.h"
#include "wide/base/philox.h"

namespace wide::engine {

namespace {

constexpr std::uint32_t kGradientPurpose = 0x73747562;  // "stub"
constexpr std::uint32_t kBufferPurpose = 0x73746266;    // "stbf"
constexpr std::uint32_t kEvalPurpose = 0x73746576;      // "stev"

// Sign, mantissa and an exponent from -20 to 3 out of one word.
float scattered(std::uint32_t word) {
  const std::uint32_t sign = word & 0x80000000u;
  const std::uint32_t mantissa = word & 0x007fffffu;
  const std::uint32_t spread = (word >> 23) & 0xffu;
  const std::uint32_t exponent = 127 - 20 + (spread * 24 >> 8);
  return std::bit_cast<float>(sign | exponent << 23 | mantissa);
}

// A trace of the weights: the first few alone, to be quick.
double trace_of(std::span<const float> values) {
  double trace = 0;
  for (const float value : values.first(std::min<std::size_t>(values.size(), 8))) trace += value;
  return trace;
}

}  // namespace

StubComputer::StubComputer(std::uint64_t seed, std::uint32_t batch, std::uint64_t parameter_count,
                           std::uint64_t buffer_count)
    : seed_(seed), batch_(batch), parameter_count_(parameter_count), buffer_count_(buffer_count) {}

double StubComputer::gradient(const Weights& weights, Step step, Unit unit, std::span<float> out) {
  const std::span<const float> from = weights->values.values;
  WIDE_CHECK(from.size() == parameter_count_ + buffer_count_ && out.size() == from.size());

  const RandomStream noise(seed_, kGradientPurpose, step, unit);
  for (std::size_t i = 0; i < parameter_count_; i += 4) {
    const auto words = noise.block(static_cast<std::uint32_t>(i / 4));
    const auto end = std::min<std::size_t>(i + 4, parameter_count_);
    for (std::size_t k = i; k < end; ++k) out[k] = scattered(words[k - i]) + 0.01f * from[k];
  }
  const RandomStream statistics(seed_, kBufferPurpose, step, unit);
  for (std::size_t k = parameter_count_; k < from.size(); ++k) {
    out[k] = 0.9f * from[k] + 0.1f * statistics.uniform(k - parameter_count_);
  }
  const double level = 1.0 / (1.0 + 0.01 * static_cast<double>(step));
  return batch_ *
         (level + 0.1 * statistics.uniform(buffer_count_) + 1e-6 * std::abs(trace_of(from)));
}

EvalOutcome StubComputer::evaluate(const Weights& weights, std::uint64_t first,
                                   std::uint64_t count) {
  const double trace = 1e-6 * std::abs(trace_of(weights->values.values));
  const RandomStream noise(seed_, kEvalPurpose, weights->step);
  EvalOutcome outcome;
  for (std::uint64_t sample = first; sample < first + count; ++sample) {
    const float chance = noise.uniform(sample);
    outcome.loss_sum += chance + trace;
    outcome.correct_count += chance < 0.75f ? 1 : 0;
  }
  return outcome;
}

StubFactory::StubFactory(const Job& job, const Layout& layout)
    : seed_(job.seed),
      batch_(job.train.batch),
      parameter_count_(layout.parameter_count),
      buffer_count_(layout.buffer_count) {}

std::unique_ptr<UnitComputer> StubFactory::make_computer() {
  return std::make_unique<StubComputer>(seed_, batch_, parameter_count_, buffer_count_);
}

}  // namespace wide::engine
