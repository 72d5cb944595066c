// wide version

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "wide/apps/cli/commands.h"
#include "wide/apps/cli/report_flags.h"
#include "wide/wire/frame.h"

namespace wide::apps {

ExitCode run_version(const Invocation& invocation) {
  ReportFlags report;
  CommandLine line("wide", "version", "Prints the version.", "");
  report.declare(line, invocation.environment);
  if (!line.parse(invocation.arguments)) return ExitCode::kOk;
  if (report.json) {
    print_json({{"version", WIDE_VERSION}, {"protocol", wire::kProtocolVersion}});
  } else {
    fmt::print("wide {} (protocol {})\n", WIDE_VERSION, wire::kProtocolVersion);
  }
  return ExitCode::kOk;
}

}  // namespace wide::apps
