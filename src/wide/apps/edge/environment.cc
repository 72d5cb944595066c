#include "wide/apps/edge/environment.h"

#include <algorithm>

namespace wide::apps {

namespace {
bool names(const std::string& line, std::string_view name) {
  return line.size() > name.size() && line[name.size()] == '=' && line.starts_with(name);
}
}  // namespace

Environment::Environment(const char* const* variables) {
  for (; variables != nullptr && *variables != nullptr; ++variables)
    lines_.emplace_back(*variables);
}

const std::string* Environment::find(std::string_view name) const {
  const auto found =
      std::ranges::find_if(lines_, [&](const std::string& line) { return names(line, name); });
  return found == lines_.end() ? nullptr : &*found;
}

std::string Environment::value(std::string_view name) const {
  const std::string* line = find(name);
  return line == nullptr ? std::string() : line->substr(name.size() + 1);
}

bool Environment::has(std::string_view name) const { return find(name) != nullptr; }

Environment Environment::with(std::span<const Variable> changes) const {
  Environment changed = *this;
  for (const auto& change : changes) {
    std::erase_if(changed.lines_, [&](const auto& line) { return names(line, change.name); });
    changed.lines_.push_back(change.name + "=" + change.value);
  }
  return changed;
}

}  // namespace wide::apps
