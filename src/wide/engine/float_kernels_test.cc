// Every instruction set that this machine has gives the bits of the plain loops.

#include "wide/engine/float_kernels.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <bit>
#include <cstring>
#include <random>
#include <vector>

#include "wide/engine/optimizer.h"
#include "wide/engine/sum_tree.h"

namespace wide::engine {
namespace {

// Many magnitudes, both signs, zeros of both signs and numbers below the normal ones.
std::vector<float> rough_floats(std::size_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<float> values(count);
  for (float& value : values) {
    const auto word = static_cast<std::uint32_t>(engine());
    const std::uint32_t exponent = 100 + engine() % 50;
    value = std::bit_cast<float>((word & 0x807fffffu) | exponent << 23);
    if (word % 97 == 0) value = std::bit_cast<float>(word & 0x80000000u);
    if (word % 89 == 0) value = std::bit_cast<float>(word & 0x807fffffu);
  }
  return values;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return false;
  return a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// Runs a claim under each instruction set, then gives the choice back.
template <class Claim>
void on_every_target(const Claim& claim) {
  const auto targets = hwy::SupportedAndGeneratedTargets();
  EXPECT_GE(targets.size(), 2u) << "a machine with one target proves little";
  for (const auto target : targets) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().DeInit();  // choose anew
    claim();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}

constexpr std::size_t kCounts[] = {0, 1, 2, 3, 5, 8, 15, 16, 17, 31, 64, 100, 1003};

TEST(AddFloats, EqualsPlainLoopOnEveryTarget) {
  on_every_target([] {
    for (const auto count : kCounts) {
      auto fast = rough_floats(count, 1);
      auto plain = fast;
      const auto from = rough_floats(count, 2);

      add_floats(fast, from);
      add_floats_reference(plain, from);

      EXPECT_TRUE(same_bits(fast, plain)) << count;
    }
  });
}

TEST(AddFloats, TakesAnyAlignment) {
  on_every_target([] {
    auto fast = rough_floats(101, 1);
    auto plain = fast;
    const auto from = rough_floats(103, 2);

    add_floats(std::span(fast).subspan(1), std::span(from).subspan(3));
    add_floats_reference(std::span(plain).subspan(1), std::span(from).subspan(3));

    EXPECT_TRUE(same_bits(fast, plain));
  });
}

TEST(DivideFloats, EqualsPlainLoopOnEveryTarget) {
  on_every_target([] {
    for (const auto count : kCounts) {
      auto fast = rough_floats(count, 3);
      auto plain = fast;

      divide_floats(fast, 30.0f);
      for (float& value : plain) value = value / 30.0f;

      EXPECT_TRUE(same_bits(fast, plain)) << count;
    }
  });
}

TEST(SumOfSquares, EqualsPlainLoopOnEveryTarget) {
  on_every_target([] {
    for (const auto count : kCounts) {
      const auto values = rough_floats(count + 1, 5);
      for (const std::size_t at : {0, 1}) {  // any alignment
        const double fast = squares_kernel(values.data() + at, count);
        const double plain = squares_reference(values.data() + at, count);
        EXPECT_EQ(std::bit_cast<std::uint64_t>(fast), std::bit_cast<std::uint64_t>(plain)) << count;
      }
    }
  });
}

TEST(ClearNegativeZeros, ChangesNothingElse) {
  on_every_target([] {
    auto values = rough_floats(1003, 4);
    auto expected = values;
    for (float& value : expected) {
      if (value == 0) value = 0.0f;
    }

    clear_negative_zeros(values.data(), values.size());

    EXPECT_TRUE(same_bits(values, expected));
  });
}

struct Rule {
  const char* name;
  OptimizerKind kind;
  double momentum;
  bool nesterov;
};
constexpr Rule kRules[] = {{"sgd", OptimizerKind::kSgd, 0, false},
                           {"momentum", OptimizerKind::kSgd, 0.9, false},
                           {"nesterov", OptimizerKind::kSgd, 0.9, true},
                           {"adam", OptimizerKind::kAdam, 0, false},
                           {"adamw", OptimizerKind::kAdamW, 0, false}};

using Apply = void (*)(const Train&, const StepScalars&, std::span<const float>,
                       std::span<const float>, std::span<float>, const MomentsChange&);

// Weights and state after a few steps, one behind the other.
std::vector<float> trained(const Train& train, std::size_t count, Apply apply) {
  auto weights = rough_floats(count, 10);
  std::vector<float> next(count), state(count * state_per_parameter(train));
  for (Step step = 0; step < 5; ++step) {
    const auto gradient = rough_floats(count, 20 + static_cast<unsigned>(step));
    apply(train, step_scalars(train, step, 0, gradient), gradient, weights, next, state);
    weights.swap(next);
  }
  weights.insert(weights.end(), state.begin(), state.end());
  return weights;
}

TEST(ApplyUpdate, EqualsReferenceOnEveryTarget) {
  on_every_target([] {
    for (const auto& rule : kRules) {
      Train train;
      train.optimizer = rule.kind;
      train.momentum = rule.momentum;
      train.nesterov = rule.nesterov;
      train.clip_norm = 3;
      for (const auto count : kCounts) {
        EXPECT_TRUE(same_bits(trained(train, count, apply_update),
                              trained(train, count, apply_update_reference)))
            << rule.name << " " << count;
      }
    }
  });
}

}  // namespace
}  // namespace wide::engine
