// Compiled once per instruction set (Highway's foreach_target); HWY_DYNAMIC_DISPATCH picks the
// best at run time. Never MulAdd: a fused product is not rounded and would differ from the others.

#include "wide/engine/float_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wide/engine/float_kernels.cc"
#include <hwy/foreach_target.h>  // comes before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace wide::engine {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Calls work(tag, i) over whole vectors, then one value at a time over the rest: the same code.
template <class Work>
void over(std::size_t count, const Work& work) {
  const hn::ScalableTag<float> wide_tag;
  const hn::CappedTag<float, 1> one_tag;
  const std::size_t lanes = hn::Lanes(wide_tag);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) work(wide_tag, i);
  for (; i < count; ++i) work(one_tag, i);
}

void add(const float* left, const float* right, float* out, std::size_t count) {
  over(count, [=](auto d, std::size_t i) HWY_ATTR {
    hn::StoreU(hn::Add(hn::LoadU(d, left + i), hn::LoadU(d, right + i)), d, out + i);
  });
}

void clear_signs(float* values, std::size_t count) {
  over(count, [=](auto d, std::size_t i) HWY_ATTR {
    hn::StoreU(hn::Add(hn::LoadU(d, values + i), hn::Zero(d)), d, values + i);
  });
}

void divide(float* values, float divisor, std::size_t count) {
  over(count, [=](auto d, std::size_t i) HWY_ATTR {
    hn::StoreU(hn::Div(hn::LoadU(d, values + i), hn::Set(d, divisor)), d, values + i);
  });
}

double squares(const float* values, std::size_t count) {
  constexpr std::size_t kSums = 8;
  const hn::CappedTag<double, kSums> d;
  const hn::Rebind<float, hn::CappedTag<double, kSums>> narrow;
  constexpr std::size_t kLanes = hn::MaxLanes(hn::CappedTag<double, kSums>());
  hn::Vec<hn::CappedTag<double, kSums>> wide_sums[kSums / kLanes];
  for (auto& sum : wide_sums) sum = hn::Zero(d);
  std::size_t i = 0;
  for (; i + kSums <= count; i += kSums) {
    for (std::size_t part = 0; part < kSums / kLanes; ++part) {
      const auto value = hn::PromoteTo(d, hn::LoadU(narrow, values + i + part * kLanes));
      wide_sums[part] = hn::Add(wide_sums[part], hn::Mul(value, value));
    }
  }
  double sums[kSums];
  for (std::size_t part = 0; part < kSums / kLanes; ++part) {
    hn::StoreU(wide_sums[part], d, sums + part * kLanes);
  }
  for (std::size_t lane = 0; i + lane < count; ++lane) {
    const double value = values[i + lane];
    sums[lane] += value * value;
  }
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

template <UpdateRule::Kind kKind>
void sgd(const UpdateRule& rule, const UpdateArrays& arrays) {
  over(arrays.count, [rule, arrays](auto d, std::size_t i) HWY_ATTR {
    const auto w = hn::LoadU(d, arrays.from + i);
    const auto u = hn::LoadU(d, arrays.gradient + i);
    const auto g = hn::Add(hn::Mul(u, hn::Set(d, rule.clip_factor)),
                           hn::Mul(hn::Set(d, rule.weight_decay), w));
    auto direction = g;
    if constexpr (kKind != UpdateRule::Kind::kSgd) {
      const auto momentum = hn::Set(d, rule.momentum);
      const auto m = hn::Add(hn::Mul(momentum, hn::LoadU(d, arrays.first + i)), g);
      hn::StoreU(m, d, arrays.first_to + i);
      direction = m;
      if constexpr (kKind == UpdateRule::Kind::kNesterov) {
        direction = hn::Add(g, hn::Mul(momentum, m));
      }
    }
    hn::StoreU(hn::Sub(w, hn::Mul(hn::Set(d, rule.step_size), direction)), d, arrays.to + i);
  });
}

template <UpdateRule::Kind kKind>
void adam(const UpdateRule& rule, const UpdateArrays& arrays) {
  over(arrays.count, [rule, arrays](auto d, std::size_t i) HWY_ATTR {
    auto w = hn::LoadU(d, arrays.from + i);
    auto g = hn::Mul(hn::LoadU(d, arrays.gradient + i), hn::Set(d, rule.clip_factor));
    if constexpr (kKind == UpdateRule::Kind::kAdamW) {
      w = hn::Mul(w, hn::Set(d, rule.decay_factor));
    } else {
      g = hn::Add(g, hn::Mul(hn::Set(d, rule.weight_decay), w));
    }
    const auto m = hn::Add(hn::Mul(hn::Set(d, rule.beta1), hn::LoadU(d, arrays.first + i)),
                           hn::Mul(hn::Set(d, rule.beta1_rest), g));
    const auto v = hn::Add(hn::Mul(hn::Set(d, rule.beta2), hn::LoadU(d, arrays.second + i)),
                           hn::Mul(hn::Mul(hn::Set(d, rule.beta2_rest), g), g));
    hn::StoreU(m, d, arrays.first_to + i);
    hn::StoreU(v, d, arrays.second_to + i);
    const auto root = hn::Div(hn::Sqrt(v), hn::Set(d, rule.second_root));
    const auto below = hn::Add(root, hn::Set(d, rule.eps));
    const auto step = hn::Div(hn::Mul(hn::Set(d, rule.step_size), m), below);
    hn::StoreU(hn::Sub(w, step), d, arrays.to + i);
  });
}

void update(const UpdateRule& rule, const UpdateArrays& arrays) {
  using Kind = UpdateRule::Kind;
  switch (rule.kind) {
    case Kind::kSgd:
      return sgd<Kind::kSgd>(rule, arrays);
    case Kind::kMomentum:
      return sgd<Kind::kMomentum>(rule, arrays);
    case Kind::kNesterov:
      return sgd<Kind::kNesterov>(rule, arrays);
    case Kind::kAdam:
      return adam<Kind::kAdam>(rule, arrays);
    case Kind::kAdamW:
      return adam<Kind::kAdamW>(rule, arrays);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace wide::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wide::engine {

HWY_EXPORT(add);
HWY_EXPORT(clear_signs);
HWY_EXPORT(divide);
HWY_EXPORT(squares);
HWY_EXPORT(update);

void add_kernel(const float* left, const float* right, float* out, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(add)(left, right, out, count);
}
void clear_negative_zeros(float* values, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(clear_signs)(values, count);
}
void divide_kernel(float* values, float divisor, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(divide)(values, divisor, count);
}
double squares_kernel(const float* values, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(squares)(values, count);
}
void update_kernel(const UpdateRule& rule, const UpdateArrays& arrays) {
  HWY_DYNAMIC_DISPATCH(update)(rule, arrays);
}

}  // namespace wide::engine
#endif  // HWY_ONCE
