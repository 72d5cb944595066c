// topk by sorting all places and a set of those that were drawn.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "wide/codec/topk.h"
#include "wide/codec/topk_draw.h"

namespace wide::codec {

std::vector<float> topk_reference(std::span<const float> values, const Rounding* rounding) {
  const std::size_t count = values.size(), kept = topk_kept(count);
  const auto is_finite = [](float value) { return std::isfinite(value); };
  if (!std::ranges::all_of(values, is_finite)) {
    return std::vector<float>(count, std::numeric_limits<float>::quiet_NaN());
  }
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return std::abs(values[a]) > std::abs(values[b]);
  });

  const std::size_t exact = rounding == nullptr ? kept : kept / 2;
  std::vector<float> decoded(count);
  std::set<std::size_t> had(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(exact));
  for (const std::size_t place : had) decoded[place] = values[place] + 0.0f;
  if (rounding == nullptr) return decoded;

  PlaceDraw draw(*rounding);
  const float factor = draw_factor(count - exact, kept - exact);
  while (had.size() < kept) {
    const std::size_t place = draw.next(count);
    if (!had.insert(place).second) continue;
    constexpr float kMax = std::numeric_limits<float>::max();
    decoded[place] = std::clamp(values[place] * factor, -kMax, kMax) + 0.0f;
  }
  return decoded;
}

}  // namespace wide::codec
