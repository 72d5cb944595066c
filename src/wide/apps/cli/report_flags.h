#pragma once
// What every command that reports understands: --json and --log.

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "wide/apps/edge/command_line.h"

namespace wide::apps {

struct ReportFlags {
  bool json = false;
  std::string log = "normal";

  void declare(CommandLine& line, const Environment& environment);
  void apply() const;  // sets the log's level; Failure for an unknown word
};

// One JSON object on stdout. Text that is not UTF-8 is mended rather than thrown about.
void print_json(const nlohmann::ordered_json& object);

// The environment's value for a flag: fallback(environment, "WIDE_OUT").
Variable fallback(const Environment& environment, const std::string& name);

}  // namespace wide::apps
