#include "wide/apps/cli/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace wide::apps {

std::string grouped(std::uint64_t count) {
  std::string text = std::to_string(count);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3) {
    text.insert(text.begin() + at, ',');
  }
  return text;
}

std::string short_rate(double per_second) {
  if (per_second < 100) return fmt::format("{:.1f}", per_second);
  if (per_second < 10'000) return fmt::format("{:.0f}", per_second);
  if (per_second < 1e6) return fmt::format("{:.1f}k", per_second / 1e3);
  return fmt::format("{:.2f}M", per_second / 1e6);
}

std::string short_bytes(double bytes) {
  constexpr std::array kUnits = {"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  for (; bytes >= 1000 && unit + 1 < kUnits.size(); ++unit) bytes /= 1000;
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, kUnits[unit]);
}

std::string clock_span(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::clamp(std::ceil(seconds), 0.0, 1e9));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string printable(std::string_view text) {
  std::string shown(text);
  const auto steers = [](unsigned char letter) { return letter < 0x20 || letter == 0x7f; };
  std::ranges::replace_if(shown, steers, '?');
  return shown;
}

std::size_t width(std::string_view text) {
  const auto starts_character = [](unsigned char byte) { return (byte & 0xc0) != 0x80; };
  return static_cast<std::size_t>(std::ranges::count_if(text, starts_character));
}

}  // namespace wide::apps
