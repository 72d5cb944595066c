#include "wide/apps/cli/bench/whole_run.h"

#include <fmt/format.h>

#include <cstdlib>

#include "wide/apps/cli/node_program.h"
#include "wide/apps/edge/error_report.h"
#include "wide/apps/edge/this_machine.h"
#include "wide/base/error.h"

namespace wide::apps::bench {

ScratchFolder::ScratchFolder(const Environment& environment) {
  const std::string parent = environment.value("TMPDIR");
  std::string name = (parent.empty() ? "/tmp" : parent) + "/wide-bench-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) {
    throw Failure(Errc::kCannotWrite, name + ": no folder can be made there");
  }
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

nlohmann::json train(const std::string& job_file, const std::string& out,
                     const std::vector<std::string>& flags, const Environment& environment,
                     const std::string& log) {
  NodeCall call;
  call.program = this_program();
  call.environment = environment;
  call.arguments = {"train", job_file, "--out", out, "--json", "--log", log};
  call.arguments.insert(call.arguments.end(), flags.begin(), flags.end());
  call.quiet = true;
  const Answer answer = ask_program(call);
  auto said = nlohmann::json::parse(answer.output, nullptr, false);
  if (answer.exit_code == 0 && said.is_object()) return said;
  throw Failure(error_from_json(said).value_or(Error{
      Errc::kComputeFailed, fmt::format("`wide train` ended with code {}", answer.exit_code)}));
}

}  // namespace wide::apps::bench
