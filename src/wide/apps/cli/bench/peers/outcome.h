#pragma once
// How a training run went, whoever made it, and how two of them compare.
//
// Time to a loss: the steps to it over the steps per second, so that nobody's start-up counts. The
// loss is one that all contestants reach: four fifths of the way from where they begin down to what
// the one that got least far reached.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <nlohmann/json.hpp>

namespace wide::apps::bench {

struct CurvePoint {
  double step = 0;  // how many had been made
  double loss = 0;  // mean over the steps since the point before
};
using Curve = std::vector<CurvePoint>;

struct Outcome {
  double steps = 0;
  double steps_per_second = 0;
  double bytes_per_step = 0;
  double cpu_seconds_per_step = 0;
  double memory_bytes = 0;
  Curve curve{};
};

Curve curve_of(std::span<const double> losses);  // of all steps, in order

// Every point the median of itself and the four before it.
Curve smoothed(const Curve& curve);

// One that all of these reach; none where one of them did not get any lower at all.
std::optional<double> shared_loss(std::span<const Curve> curves);

std::optional<double> steps_to(const Curve& curve, double loss);

// Of several runs of the same: the median of every figure, and the longest curve.
Outcome median_outcome(std::span<const Outcome> rounds);

nlohmann::ordered_json outcome_json(const Outcome& outcome, double batches_per_step, double batch,
                                    const std::optional<double>& loss);

}  // namespace wide::apps::bench
