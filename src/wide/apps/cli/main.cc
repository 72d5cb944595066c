// `wide`: the program people use. It reads argv and the environment, finds the command and turns
// whatever goes wrong into words and an exit code. No libtorch here: it starts at once.

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "wide/apps/cli/commands.h"
#include "wide/apps/edge/bus_error.h"
#include "wide/apps/edge/error_report.h"
#include "wide/base/failpoint.h"

namespace wide::apps {

namespace {
ExitCode dispatch(Invocation invocation) {
  value_or_throw(arm_failpoints(invocation.environment.value("WIDE_FAILPOINT")));
  auto& arguments = invocation.arguments;
  const std::string word = arguments.empty() ? "" : arguments.front();
  if (word.empty() || word == "--help" || word == "-h") {
    std::fputs(overview().c_str(), stdout);
    return ExitCode::kOk;
  }
  arguments.erase(arguments.begin());
  if (word == "--version" || word == "-V") return run_version(invocation);
  return find_command(word).run(invocation);
}
}  // namespace

}  // namespace wide::apps

int main(int argc, char** argv) {
  wide::apps::report_bus_errors();
  char** const end = argv + std::max(argc, 1);
  const bool json =
      std::any_of(argv + 1, end, [](std::string_view word) { return word == "--json"; });
  // Nothing above may throw: not even the lack of memory would be told.
  return wide::apps::run_reporting_errors(json, [&] {
    return wide::apps::dispatch({{argv + 1, end}, wide::apps::Environment(environ)});
  });
}
