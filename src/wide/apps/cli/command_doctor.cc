// wide doctor [URL]: is this machine fit to train, and is there a way to the pool?

#include <fmt/color.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "wide/apps/cli/commands.h"
#include "wide/apps/cli/doctor_checks.h"
#include "wide/apps/cli/figures.h"
#include "wide/apps/cli/report_flags.h"
#include "wide/base/log.h"

namespace wide::apps {

namespace {
std::vector<Check> all_checks(const std::string& url, const Environment& environment) {
  log::info("looking at this machine, a few seconds …");
  auto checks = check_compute(environment);
  checks.push_back(check_cores());
  checks.push_back(check_disk(std::filesystem::current_path()));
  checks.push_back(check_port());
  checks.push_back(check_samples(environment));
  if (!url.empty()) checks.push_back(check_pool(url));
  return checks;
}

void print_checks_json(const std::vector<Check>& checks, bool well) {
  nlohmann::ordered_json json;
  json["ok"] = well;
  json["checks"] = nlohmann::ordered_json::array();
  for (const auto& check : checks) {
    json["checks"].push_back({{"name", check.name},
                              {"verdict", verdict_word(check.verdict)},
                              {"found", check.found},
                              {"advice", check.advice}});
  }
  print_json(json);
}

fmt::text_style style_of(Verdict verdict, bool colour) {
  if (!colour) return {};
  if (verdict == Verdict::kOk) return fmt::fg(fmt::terminal_color::green);
  return fmt::fg(verdict == Verdict::kWarn ? fmt::terminal_color::yellow
                                           : fmt::terminal_color::red);
}

void print_checks(const std::vector<Check>& checks, bool colour) {
  for (const auto& check : checks) {
    fmt::print("{}  {:<13}  {}\n",
               fmt::format(style_of(check.verdict, colour), "{:<4}", verdict_word(check.verdict)),
               check.name, printable(check.found));
    if (!check.advice.empty()) fmt::print("      {:<13}  -> {}\n", "", check.advice);
  }
}
}  // namespace

ExitCode run_doctor(const Invocation& invocation) {
  std::string url;
  ReportFlags flags;
  CommandLine line("wide", "doctor", "Checks this machine, and the way to a pool.",
                   "  wide doctor\n  wide doctor wide://192.168.1.7:7878\n");
  line.positional("URL", url, "a pool to try: wide://HOST:PORT", false);
  flags.declare(line, invocation.environment);
  if (!line.parse(invocation.arguments)) return ExitCode::kOk;
  flags.apply();

  const auto checks = all_checks(url, invocation.environment);
  const bool well = std::ranges::find(checks, Verdict::kFail, &Check::verdict) == checks.end();
  const bool colour =
      isatty(STDOUT_FILENO) == 1 && invocation.environment.value("NO_COLOR").empty();
  if (flags.json) {
    print_checks_json(checks, well);
  } else {
    print_checks(checks, colour);
  }
  return well ? ExitCode::kOk : ExitCode::kPreflight;
}

}  // namespace wide::apps
