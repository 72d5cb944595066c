// wide help: the overview, a command's own help, or what an error code means.

#include <fmt/format.h>

#include <cstdio>

#include "wide/apps/cli/commands.h"
#include "wide/apps/edge/command_line.h"
#include "wide/apps/edge/error_report.h"

namespace wide::apps {

namespace {
bool is_code(const std::string& word) {
  return word.size() == 4 && (word[0] == 'W' || word[0] == 'w') &&
         word.find_first_not_of("0123456789", 1) == std::string::npos;
}

void explain(const std::string& word) {
  for (const auto& entry : error_catalog()) {
    if (code_word(entry.code).substr(1) != word.substr(1)) continue;
    fmt::print("{} {}\n\n{}\n\nPrograms end with exit code {}.\n", code_word(entry.code),
               entry.title, entry.advice, static_cast<int>(entry.exit_code));
    return;
  }
  throw Failure(Errc::kUsage, fmt::format("there is no error code {}", word));
}
}  // namespace

ExitCode run_help(const Invocation& invocation) {
  std::string word;
  CommandLine line("wide", "help", "Explains a command or an error code.",
                   "  wide help train\n  wide help W301\n");
  line.positional("WORD", word, "a command, or a code such as W301", false);
  if (!line.parse(invocation.arguments)) return ExitCode::kOk;
  if (is_code(word)) {
    explain(word);
    return ExitCode::kOk;
  }
  if (!word.empty()) return find_command(word).run({{"--help"}, invocation.environment});
  std::fputs(overview().c_str(), stdout);
  return ExitCode::kOk;
}

}  // namespace wide::apps
