#pragma once
// What something costs by its size, learned from examples: cost = fixed + per_byte × bytes.
//
// The line goes through two points, the mean of late of small examples and that of large ones. Each
// is moved by its own kind alone: a thousand large blocks do not wipe out what a small one said
// about the fixed part. With one kind only, the fixed part is taken as nought.

#include <array>
#include <cstdint>

namespace wide::codec {

class CostLine final {
 public:
  // An example that costs twice what the line says or more, which is what a busy machine does to a
  // measurement, counts as twice; if it is the truth, the next ones will say so again.
  void add(double bytes, double cost);

  bool empty() const { return points_[0].count + points_[1].count == 0; }
  double fixed() const;  // neither part is ever negative
  double per_byte() const;
  double at(double bytes) const { return fixed() + per_byte() * bytes; }

 private:
  struct Point {
    double bytes = 0;
    double cost = 0;
    std::uint32_t count = 0;
  };

  std::array<Point, 2> points_;  // small and large
};

}  // namespace wide::codec
