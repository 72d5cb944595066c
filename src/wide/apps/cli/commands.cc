#include "wide/apps/cli/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "wide/base/nearest_word.h"

namespace wide::apps {

namespace {
constexpr std::array<Command, 15> kCommands = {{
    {"demo", "demo [--nodes N] [--seconds S]", "train a small CNN on Fashion-MNIST, here and now",
     run_demo},
    {"new", "new KIND [--data KIND] [--out FILE]", "write a commented job file to start from",
     run_new},
    {"train", "train JOB.toml [--nodes N]", "train a job with nodes on this machine", run_train},
    {"pool", "pool JOB.toml [--listen HOST:PORT]", "open a pool and train with whoever joins",
     run_pool},
    {"join", "join URL [--slots N]", "join a pool as a node", run_join},
    {"nodes", "nodes URL", "who is in a pool and what they do", run_nodes},
    {"status", "status URL", "how far a pool is", run_status},
    {"verify", "verify DIR", "check a run folder: every unit counted exactly once", run_verify},
    {"replay", "replay DIR --step T", "compute one step once more and compare", run_replay},
    {"export", "export DIR --out FILE", "the weights of a run, as safetensors", run_export},
    {"bench", "bench NAME [--seconds S]", "measure this machine; --list names what", run_bench},
    {"sim", "sim --seeds A..B", "simulate pools that everything happens to, and check promises",
     run_sim},
    {"doctor", "doctor [URL]", "check this machine, and the way to a pool", run_doctor},
    {"help", "help [COMMAND | W104]", "explain a command or an error code", run_help},
    {"version", "version", "print the version", run_version},
}};

constexpr std::array<std::string_view, 2> kLater = {"top", "token"};

constexpr std::string_view kExamples =
    R"(wide trains one model on many machines, exactly: the same bits for any set of nodes.

  wide demo                                  two nodes, a small CNN, about a minute
  wide new cnn --out job.toml                write a job file, and change it to your liking
  wide train job.toml --nodes 4              train it on this machine
  wide pool job.toml                         open a pool; it prints the line for the others
  wide join wide://192.168.1.7:7878          make it faster from another machine

)";
}  // namespace

std::span<const Command> commands() { return kCommands; }

const Command& find_command(std::string_view word) {
  const auto found = std::ranges::find(kCommands, word, &Command::name);
  if (found != kCommands.end()) return *found;
  if (std::ranges::find(kLater, word) != kLater.end()) {
    throw Failure(Errc::kNotYet, fmt::format("`wide {}` is not in this version", word));
  }
  std::vector<std::string_view> words;
  for (const auto& command : kCommands) words.push_back(command.name);
  const auto near = nearest_word(word, words);
  throw Failure(Errc::kUsage,
                near.empty()
                    ? fmt::format("there is no command '{}'; `wide` alone lists them", word)
                    : fmt::format("there is no command '{}'; did you mean '{}'?", word, near));
}

std::string overview() {
  std::string text(kExamples);
  for (const auto& command : kCommands) {
    text += fmt::format("  wide {:<36}  {}\n", command.usage, command.does);
  }
  text += "\nEvery command explains itself with --help. Errors have codes: wide help W301\n";
  return text;
}

}  // namespace wide::apps
