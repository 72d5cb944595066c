#include "wide/base/log.h"

#include <atomic>
#include <cstdio>
#include <mutex>

namespace wide::log {

namespace {
// Where stderr is, there is one per process: the one piece of global state we allow ourselves.
std::atomic<Level> g_level{Level::kNormal};
std::mutex g_mutex;
std::string g_live_line;

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}
}  // namespace

void set_level(Level level) { g_level = level; }
Level level() { return g_level; }

void set_live_line(std::string line) {
  const std::lock_guard lock(g_mutex);
  if (level() == Level::kSilent) return;
  if (!line.empty() || !g_live_line.empty()) print("\r\x1b[K" + line);
  g_live_line = std::move(line);
}

void write(std::string_view line) {
  const std::lock_guard lock(g_mutex);
  const std::string clear = g_live_line.empty() ? "" : "\r\x1b[K";
  print(clear + std::string(line) + "\n" + g_live_line);
}

}  // namespace wide::log
