#include "wide/apps/cli/bench/peers/outcome.h"

#include <algorithm>

#include "wide/apps/cli/bench/turns.h"

namespace wide::apps::bench {

namespace {

constexpr std::size_t kSmoothedOver = 5;
constexpr double kWayDown = 0.8;

double lowest(const Curve& curve) {
  return std::ranges::min_element(curve, {}, &CurvePoint::loss)->loss;
}

double median_of(std::span<const Outcome> rounds, double Outcome::*figure) {
  std::vector<double> values;
  for (const auto& round : rounds) values.push_back(round.*figure);
  return median(values);
}

}  // namespace

Curve curve_of(std::span<const double> losses) {
  Curve curve;
  for (const double loss : losses) curve.push_back({static_cast<double>(curve.size() + 1), loss});
  return curve;
}

Curve smoothed(const Curve& curve) {
  Curve smooth = curve;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    std::vector<double> near;
    for (std::size_t j = i - std::min(i, kSmoothedOver - 1); j <= i; ++j) {
      near.push_back(curve[j].loss);
    }
    smooth[i].loss = median(near);
  }
  return smooth;
}

std::optional<double> shared_loss(std::span<const Curve> curves) {
  if (curves.empty()) return std::nullopt;
  double first = 0, reached = 0;
  for (const auto& curve : curves) {
    if (curve.empty()) return std::nullopt;
    const double begun = curve.front().loss;
    first = &curve == curves.data() ? begun : std::min(first, begun);
    reached = std::max(reached, lowest(smoothed(curve)));
  }
  if (reached >= first) return std::nullopt;
  return first - kWayDown * (first - reached);
}

std::optional<double> steps_to(const Curve& curve, double loss) {
  const Curve smooth = smoothed(curve);
  const auto found =
      std::ranges::find_if(smooth, [loss](const CurvePoint& point) { return point.loss <= loss; });
  if (found == smooth.end()) return std::nullopt;
  return found->step;
}

Outcome median_outcome(std::span<const Outcome> rounds) {
  Outcome outcome;
  if (rounds.empty()) return outcome;
  for (const auto figure : {&Outcome::steps, &Outcome::steps_per_second, &Outcome::bytes_per_step,
                            &Outcome::cpu_seconds_per_step, &Outcome::memory_bytes}) {
    outcome.*figure = median_of(rounds, figure);
  }
  const auto reach = [](const Outcome& one) {
    return one.curve.empty() ? 0 : one.curve.back().step;
  };
  outcome.curve = std::ranges::max_element(rounds, {}, reach)->curve;
  return outcome;
}

nlohmann::ordered_json outcome_json(const Outcome& outcome, double batches_per_step, double batch,
                                    const std::optional<double>& loss) {
  nlohmann::ordered_json json;
  json["steps"] = outcome.steps;
  json["steps_per_second"] = outcome.steps_per_second;
  json["batches_per_second"] = outcome.steps_per_second * batches_per_step;
  json["samples_per_second"] = outcome.steps_per_second * batches_per_step * batch;
  const auto steps = loss ? steps_to(outcome.curve, *loss) : std::nullopt;
  json["steps_to_loss"] = steps ? nlohmann::ordered_json(*steps) : nullptr;
  json["seconds_to_loss"] =
      steps ? nlohmann::ordered_json(*steps / outcome.steps_per_second) : nullptr;
  json["bytes_per_step"] = outcome.bytes_per_step;
  json["cpu_seconds_per_step"] = outcome.cpu_seconds_per_step;
  json["memory_bytes"] = outcome.memory_bytes;
  return json;
}

}  // namespace wide::apps::bench
