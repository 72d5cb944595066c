#include "wide/apps/edge/bus_error.h"

#include <signal.h>
#include <unistd.h>

#include <string_view>

#include "wide/base/error_catalog.h"

namespace wide::apps {

namespace {
constexpr std::string_view kWords =
    "error W205 samples changed during the run: a mapped file was shortened while it was read\n"
    "  Put the file back and start again (wide help W205)\n";

// Only what is safe inside a signal handler.
void say_and_end(int) {
  [[maybe_unused]] const auto written = write(STDERR_FILENO, kWords.data(), kWords.size());
  _exit(static_cast<int>(ExitCode::kFailure));
}
}  // namespace

void report_bus_errors() {
  struct sigaction action {};
  action.sa_handler = say_and_end;
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace wide::apps
