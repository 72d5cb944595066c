#include "wide/apps/cli/progress_line.h"

#include <fmt/format.h>

#include <algorithm>

#include "wide/apps/cli/figures.h"

namespace wide::apps {

namespace {
constexpr std::size_t kBarLongest = 30;
constexpr std::size_t kBarShortest = 5;

std::string bar(double fraction, std::size_t length) {
  const auto full = static_cast<std::size_t>(fraction * static_cast<double>(length));
  std::string text(length, ' ');
  std::fill_n(text.begin(), full, '=');
  if (full < length) text[full] = '>';
  return "[" + text + "] ";
}

std::string steps(const engine::Progress& progress) {
  if (progress.steps_total == 0) return fmt::format("step {} ", progress.step);
  return fmt::format("step {}/{} ", progress.step, progress.steps_total);
}

std::string facts(const engine::Progress& progress) {
  std::string text = fmt::format("{:.0f}%", 100 * done_fraction(progress));
  if (progress.step > 0) text += fmt::format("  loss {:.4f}", progress.loss);
  text += fmt::format("  {} samples/s  {} node{}", short_rate(progress.samples_per_second),
                      progress.nodes, progress.nodes == 1 ? "" : "s");
  if (progress.state != "training") return text + "  " + progress.state;
  if (progress.left_seconds > 0)
    text += fmt::format("  {} left", clock_span(progress.left_seconds));
  return text;
}
}  // namespace

double done_fraction(const engine::Progress& progress) {
  double fraction = 0;
  const double span = progress.elapsed_seconds + progress.left_seconds;
  if (progress.steps_total > 0) {
    fraction = static_cast<double>(progress.step) / static_cast<double>(progress.steps_total);
  } else if (span > 0) {
    fraction = progress.elapsed_seconds / span;
  }
  return std::clamp(fraction, 0.0, 1.0);
}

std::string live_line(const engine::Progress& progress, std::size_t columns) {
  const std::string left = steps(progress);
  const std::string right = facts(progress);
  const std::size_t taken = left.size() + right.size() + 3;  // brackets and a blank
  std::string line = left;
  if (taken + kBarShortest <= columns) {
    line += bar(done_fraction(progress), std::min(columns - taken, kBarLongest));
  }
  return (line + right).substr(0, columns);
}

std::string plain_line(const engine::Progress& progress) {
  std::string state = progress.state;
  std::ranges::replace(state, ' ', '-');
  std::string line = fmt::format("progress state={} step={} steps_total={} epoch={:.3f}", state,
                                 progress.step, progress.steps_total, progress.epoch);
  if (progress.step > 0) line += fmt::format(" loss={:.6f}", progress.loss);  // else there is none
  line += fmt::format(" samples_per_second={:.1f} nodes={} slots={} elapsed_seconds={:.1f}",
                      progress.samples_per_second, progress.nodes, progress.slots,
                      progress.elapsed_seconds);
  if (progress.left_seconds > 0) line += fmt::format(" left_seconds={:.1f}", progress.left_seconds);
  return line;
}

}  // namespace wide::apps
