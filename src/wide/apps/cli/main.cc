// `wide`: the program people use. It reads argv and the environment, finds the command and turns
// whatever goes wrong into words and an exit code. No libtorch here: it starts at once.

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "wide/apps/cli/commands.h"
#include "wide/apps/edge/bus_error.h"
#include "wide/apps/edge/error_report.h"

namespace wide::apps {

namespace {
ExitCode dispatch(Invocation invocation) {
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
  wide::apps::Invocation invocation{{argv + 1, argv + std::max(argc, 1)},
                                    wide::apps::Environment(environ)};
  const auto& words = invocation.arguments;
  const bool json = std::ranges::find(words, "--json") != words.end();
  return wide::apps::run_reporting_errors(
      json, [&] { return wide::apps::dispatch(std::move(invocation)); });
}
