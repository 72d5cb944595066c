// `wide-node`: the program that computes, with libtorch. People use `wide`, which starts it.
//
//   wide-node local --connect HOST:PORT --nodes N    N nodes of this machine, n1 … nN
//   wide-node join --connect HOST:PORT               one node
//   wide-node describe FILE [--out FILE] [--json]    a TorchScript file: its tensors and genesis
//   wide-node replay DIR --step T [--json]           one step once more, against the ledger
//   wide-node doctor [--json]                        which libraries, and how fast

#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include <nlohmann/json.hpp>

#include "wide/apps/edge/bus_error.h"
#include "wide/apps/edge/error_report.h"
#include "wide/apps/edge/log_flag.h"
#include "wide/apps/edge/this_machine.h"
#include "wide/apps/node/describe.h"
#include "wide/apps/node/local_fork.h"
#include "wide/apps/node/node_flags.h"
#include "wide/apps/node/replay.h"
#include "wide/base/nearest_word.h"
#include "wide/train/blas_check.h"
#include "wide/train/compute_facts.h"

namespace wide::apps {

namespace {
using Words = std::vector<std::string>;

int run_local(const Words& arguments, const Environment& environment) {
  NodeFlags flags;
  std::optional<std::uint64_t> nodes;
  CommandLine line("wide-node", "local", "Several nodes of this machine, from one loaded program.",
                   "");
  flags.declare(line);
  line.whole("--nodes", nodes, "how many; default 1");
  if (!line.parse(arguments)) return 0;
  log::set_level(log_level(flags.log));
  if (nodes.value_or(1) < 1 || nodes.value_or(1) > 256) {
    throw Failure(Errc::kUsage, fmt::format("--nodes takes 1 to 256, not {}", *nodes));
  }
  auto options = client_options(flags, "", environment);  // complains once, not N times
  options.quiet = log::level() != log::Level::kVerbose;
  options.wakeful = true;  // they share their pool's session
  if (thread_count() != 1) {
    throw Failure(Errc::kMachine, "a library started threads on loading; nodes cannot be forked");
  }
  const auto count = static_cast<std::uint32_t>(nodes.value_or(1));
  std::optional<net::KinTable> table;
  if (count > 1 && count <= engine::kHelpedNodesMax && options.node.slots == 1) {
    table.emplace(count);
  }
  return fork_and_wait(count, [&](std::uint32_t index) {
    options.node.name = fmt::format("{}{}", flags.name.empty() ? "n" : flags.name, index + 1);
    std::optional<net::KinSeat> seat;
    if (table) options.kin = &seat.emplace(*table, index, cores_available());
    if (seat) options.node.seat = seat->number();
    return run_node(options, flags.model_file, flags.json);
  });
}

int run_join(const Words& arguments, const Environment& environment) {
  NodeFlags flags;
  flags.name = host_name();
  CommandLine line("wide-node", "join", "Joins a pool as one node.", "");
  flags.declare(line);
  if (!line.parse(arguments)) return 0;
  log::set_level(log_level(flags.log));
  auto options = client_options(flags, flags.name, environment);
  if (options.node.slots == 1 || flags.model_file.empty() ||
      !draws_numbers(flags.model_file, flags.expected_model())) {
    return run_node(options, flags.model_file, flags.json);
  }
  const std::uint32_t slots = std::exchange(options.node.slots, 1);
  log::info("the model draws random numbers: {} nodes of one slot each", slots);
  return fork_and_wait(slots, [&](std::uint32_t index) {
    if (index > 0) options.node.name = fmt::format("{}-{}", flags.name, index + 1);
    return run_node(options, flags.model_file, flags.json);
  });
}

int run_doctor(const Words& arguments) {
  bool json = false;
  CommandLine line("wide-node", "doctor", "Which libraries compute here, and how fast.", "");
  line.flag("--json", json, "one JSON object on stdout");
  if (!line.parse(arguments)) return 0;
  const auto facts = train::compute_facts();
  const auto blas = train::check_blas();
  if (!json) {
    fmt::print("{}\n{}: {:.1f} GFLOP/s, a plain loop {:.1f}{}\n", train::describe(facts),
               blas.library, blas.gflops, blas.gflops_plain_loop, blas.slow ? ": SLOW" : "");
    return 0;
  }
  const nlohmann::ordered_json object = {{"version", WIDE_VERSION},
                                         {"libraries", train::describe(facts)},
                                         {"libtorch", facts.torch_version},
                                         {"cpu_capability", facts.cpu_capability},
                                         {"onednn", facts.onednn_version},
                                         {"threads", facts.threads},
                                         {"blas", blas.library},
                                         {"gflops", blas.gflops},
                                         {"gflops_plain_loop", blas.gflops_plain_loop},
                                         {"slow", blas.slow}};
  fmt::print("{}\n", object.dump(2));
  return 0;
}

int dispatch(Words arguments, const Environment& environment) {
  constexpr std::array<std::string_view, 5> kWords = {"local", "join", "describe", "replay",
                                                      "doctor"};
  const std::string word = arguments.empty() ? "" : arguments.front();
  if (word.empty() || word == "--help" || word == "-h") {
    fmt::print(
        "wide-node computes for `wide`, which starts it: local, join, describe, replay, doctor. "
        "See wide.\n");
    return 0;
  }
  arguments.erase(arguments.begin());
  if (word == "local") return run_local(arguments, environment);
  if (word == "join") return run_join(arguments, environment);
  if (word == "describe") return run_describe(arguments);
  if (word == "replay") return run_replay(arguments, environment);
  if (word == "doctor") return run_doctor(arguments);
  const auto near = nearest_word(word, kWords);
  throw Failure(Errc::kUsage,
                fmt::format("wide-node has no command '{}'{}", word,
                            near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
}

// Numeric libraries read this once, on loading: too late for a program that is already loaded.
void insist_on_one_thread(char** argv, const Environment& environment) {
  if (environment.has("OMP_NUM_THREADS") && environment.has("OPENBLAS_NUM_THREADS")) return;
  setenv("OMP_NUM_THREADS", "1", 0);
  setenv("OPENBLAS_NUM_THREADS", "1", 0);
  execv("/proc/self/exe", argv);
  throw Failure(Errc::kMachine, "wide-node could not start itself again");
}
}  // namespace

}  // namespace wide::apps

namespace {
// Every unit makes and frees tensors of megabytes. Left to itself the C library maps and unmaps
// them each time, and a tenth of the time goes into page faults.
void keep_freed_memory() {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
}
}  // namespace

int main(int argc, char** argv) {
  keep_freed_memory();
  wide::apps::report_bus_errors();
  const wide::apps::Words words(argv + 1, argv + std::max(argc, 1));
  const wide::apps::Environment environment(environ);
  const bool json = std::ranges::find(words, "--json") != words.end();
  return wide::apps::run_reporting_errors(json, [&] {
    wide::apps::insist_on_one_thread(argv, environment);
    return static_cast<wide::ExitCode>(wide::apps::dispatch(words, environment));
  });
}
