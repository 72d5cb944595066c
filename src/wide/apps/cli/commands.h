#pragma once
// The commands of `wide`: one small file each, listed once. Words of later versions are known too,
// so that they can be answered with "not yet" and never with a guess.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wide/apps/edge/environment.h"
#include "wide/base/error_catalog.h"

namespace wide::apps {

struct Invocation {
  std::vector<std::string> arguments;  // behind the command's own name
  Environment environment;
};

struct Command {
  std::string_view name;
  std::string_view usage;
  std::string_view does;
  ExitCode (*run)(const Invocation&);
};

std::span<const Command> commands();

// Throws Failure: kNotYet for words of later versions, kUsage with the nearest word for typos.
const Command& find_command(std::string_view word);

std::string overview();  // what `wide` alone prints: examples first

ExitCode run_demo(const Invocation& invocation);
ExitCode run_train(const Invocation& invocation);
ExitCode run_pool(const Invocation& invocation);
ExitCode run_join(const Invocation& invocation);
ExitCode run_nodes(const Invocation& invocation);
ExitCode run_status(const Invocation& invocation);
ExitCode run_new(const Invocation& invocation);
ExitCode run_verify(const Invocation& invocation);
ExitCode run_replay(const Invocation& invocation);
ExitCode run_export(const Invocation& invocation);
ExitCode run_bench(const Invocation& invocation);
ExitCode run_sim(const Invocation& invocation);
ExitCode run_doctor(const Invocation& invocation);
ExitCode run_help(const Invocation& invocation);
ExitCode run_version(const Invocation& invocation);

}  // namespace wide::apps
