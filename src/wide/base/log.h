#pragma once
// One event per line on stderr, past tense, then facts: log::info("node joined name={}", name).
// silent: errors only. normal: what a person wants to see. verbose: every decision.
// A live progress line, where one is shown, is cleared before a line and drawn again after it.

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace wide::log {

enum class Level { kSilent, kNormal, kVerbose };

void set_level(Level level);
Level level();

// Shown at the bottom of a terminal until replaced; empty clears it. Ignored when silent.
void set_live_line(std::string line);

void write(std::string_view line);  // unconditionally, one line

template <class... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
  write(fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  if (level() != Level::kSilent) write(fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void detail(fmt::format_string<Args...> format, Args&&... args) {
  if (level() == Level::kVerbose) write(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace wide::log
