#include "wide/apps/cli/report_flags.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "wide/apps/edge/log_flag.h"

namespace wide::apps {

void ReportFlags::declare(CommandLine& line, const Environment& environment) {
  line.flag("--json", json, "one JSON object on stdout, for scripts");
  line.text("--log", log, "silent, normal or verbose", fallback(environment, "WIDE_LOG"));
}

void ReportFlags::apply() const { log::set_level(log_level(log)); }

void print_json(const nlohmann::ordered_json& object) {
  const auto mend = nlohmann::ordered_json::error_handler_t::replace;
  fmt::print("{}\n", object.dump(2, ' ', false, mend));
}

Variable fallback(const Environment& environment, const std::string& name) {
  return {name, environment.value(name)};
}

}  // namespace wide::apps
