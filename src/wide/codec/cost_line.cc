#include "wide/codec/cost_line.h"

#include <algorithm>

namespace wide::codec {

namespace {

constexpr double kLargeBytes = 16384;
constexpr std::uint32_t kExamples = 8;   // that a mean remembers, more or less
constexpr std::uint32_t kTrustedAt = 3;  // examples: from here on surprises are doubted
constexpr double kSurpriseMost = 2;

}  // namespace

void CostLine::add(double bytes, double cost) {
  if (!(bytes > 0) || !(cost >= 0)) return;
  if (points_[0].count + points_[1].count >= kTrustedAt) {
    cost = std::min(cost, kSurpriseMost * at(bytes));
  }
  Point& point = points_[bytes < kLargeBytes ? 0 : 1];
  point.count = std::min(point.count + 1, kExamples);
  point.bytes += (bytes - point.bytes) / point.count;
  point.cost += (cost - point.cost) / point.count;
}

double CostLine::fixed() const {
  const auto& [small, large] = points_;
  if (small.count == 0 || large.bytes < 2 * small.bytes) return 0;
  const double slope = (large.cost - small.cost) / (large.bytes - small.bytes);
  return std::clamp(small.cost - slope * small.bytes, 0.0, small.cost);
}

double CostLine::per_byte() const {
  const Point& point = points_[points_[1].count > 0 ? 1 : 0];
  return point.count == 0 ? 0 : std::max(point.cost - fixed(), 0.0) / point.bytes;
}

}  // namespace wide::codec
