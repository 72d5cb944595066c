#pragma once
// The environment of this process as a value: main copies it once, everyone else is handed it.
// Nothing but main reads the real one, so that tests and started programs get what they are given.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wide::apps {

struct Variable {
  std::string name;
  std::string value;
};

class Environment final {
 public:
  Environment() = default;
  explicit Environment(const char* const* variables);  // as main's environ: "NAME=value", …, null

  std::string value(std::string_view name) const;  // empty where it is not set
  bool has(std::string_view name) const;

  // A copy in which these have these values, whatever they had before.
  Environment with(std::span<const Variable> changes) const;

  const std::vector<std::string>& lines() const { return lines_; }  // "NAME=value", for exec

 private:
  const std::string* find(std::string_view name) const;

  std::vector<std::string> lines_;
};

}  // namespace wide::apps
