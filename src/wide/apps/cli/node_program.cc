#include "wide/apps/cli/node_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "wide/apps/edge/this_machine.h"
#include "wide/base/error.h"

namespace wide::apps {

namespace {
constexpr const char* kProgram = "wide-node";

std::vector<std::filesystem::path> places(const Environment& environment) {
  const auto here = this_program().parent_path();
  std::vector<std::filesystem::path> found = {here / kProgram,
                                              here.parent_path() / "libexec/wide" / kProgram};
  const std::string path = environment.value("PATH");
  for (std::size_t at = 0; at < path.size();) {
    const auto end = std::min(path.find(':', at), path.size());
    if (end > at) found.push_back(std::filesystem::path(path.substr(at, end - at)) / kProgram);
    at = end + 1;
  }
  return found;
}

bool can_run(const std::filesystem::path& file) {
  std::error_code error;
  return std::filesystem::is_regular_file(file, error) && access(file.c_str(), X_OK) == 0;
}

[[noreturn]] void cannot_start(const NodeCall& call) {
  throw Failure(Errc::kMachine,
                fmt::format("{} did not start: {}", call.program.string(), std::strerror(errno)));
}

std::string read_all(int file) {
  std::string text;
  std::array<char, 4096> piece{};
  for (;;) {
    const auto count = read(file, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(count));
  }
}

int exit_code_after(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
}  // namespace

std::filesystem::path find_node_program(const Environment& environment) {
  const auto looked = places(environment);
  for (const auto& place : looked) {
    if (can_run(place)) return place;
  }
  throw Failure(Errc::kNodeProgramMissing,
                fmt::format("looked for {}, {} and on the PATH", looked[0].string(),
                            looked[1].lexically_normal().string()));
}

Environment node_environment(const Environment& environment, engine::Numerics numerics) {
  std::vector<Variable> changes = {{"OMP_NUM_THREADS", "1"}, {"OPENBLAS_NUM_THREADS", "1"}};
  if (numerics == engine::Numerics::kPortable) {
    changes.push_back({"ATEN_CPU_CAPABILITY", "avx2"});
    changes.push_back({"ONEDNN_MAX_CPU_ISA", "AVX2"});
    changes.push_back({"DNNL_MAX_CPU_ISA", "AVX2"});
    changes.push_back({"OPENBLAS_CORETYPE", "Haswell"});
  }
  return environment.with(changes);
}

void become(const NodeCall& call) {
  const ExecArrays arrays(call);
  execve(call.program.c_str(), arrays.argv(), arrays.envp());
  cannot_start(call);
}

Answer ask_program(const NodeCall& call) {
  const ExecArrays arrays(call);
  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) cannot_start(call);
  const pid_t child = fork();
  if (child == 0) {  // only calls that are safe between fork and exec
    dup2(pipe_ends[1], STDOUT_FILENO);
    if (call.quiet) dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
    execve(call.program.c_str(), arrays.argv(), arrays.envp());
    _exit(127);
  }
  close(pipe_ends[1]);
  if (child < 0) {
    close(pipe_ends[0]);
    cannot_start(call);
  }
  Answer answer;
  answer.output = read_all(pipe_ends[0]);
  close(pipe_ends[0]);
  answer.exit_code = exit_code_after(child);
  return answer;
}

ExecArrays::ExecArrays(const NodeCall& call) {
  arguments.push_back(call.program.c_str());
  for (const auto& argument : call.arguments) arguments.push_back(argument.c_str());
  arguments.push_back(nullptr);
  for (const auto& line : call.environment.lines()) environment.push_back(line.c_str());
  environment.push_back(nullptr);
}

}  // namespace wide::apps
