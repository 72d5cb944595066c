#pragma once
// `wide-node`, the program that computes: where it lies and what its environment must be. Numeric
// libraries read their settings when they are loaded, so these are set before it starts.

#include <filesystem>
#include <string>
#include <vector>

#include "wide/apps/edge/environment.h"
#include "wide/engine/job.h"

namespace wide::apps {

struct NodeCall {
  std::filesystem::path program;
  std::vector<std::string> arguments;  // behind the program's name
  Environment environment;
  bool quiet = false;  // what it says on stderr is dropped
};

// Beside this program, then in ../libexec/wide, then on the PATH. kNodeProgramMissing says where
// it looked.
std::filesystem::path find_node_program(const Environment& environment);

// One thread per slot; "portable" keeps BLAS, oneDNN and ATen to AVX2 kernels, so that different
// machines compute the same bits.
Environment node_environment(const Environment& environment, engine::Numerics numerics);

// Becomes that program. Returns only by throwing.
[[noreturn]] void become(const NodeCall& call);

// Runs it to its end and returns what it wrote on stdout. Failure where it cannot be started.
struct Answer {
  int exit_code = 0;
  std::string output;
};
Answer ask_program(const NodeCall& call);

// argv and envp as exec wants them; they point into `call`, which must outlive them.
struct ExecArrays {
  explicit ExecArrays(const NodeCall& call);
  std::vector<const char*> arguments;
  std::vector<const char*> environment;

  char* const* argv() const { return const_cast<char* const*>(arguments.data()); }
  char* const* envp() const { return const_cast<char* const*>(environment.data()); }
};

}  // namespace wide::apps
