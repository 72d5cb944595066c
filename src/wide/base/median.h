#pragma once
// The middle of some figures: one stray one does not move it.

#include <algorithm>
#include <vector>

namespace wide {

// The mean of the two in the middle where their number is even; 0 where there are none.
inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::ranges::max_element(values.begin(), middle)) / 2;
}

}  // namespace wide
