#include "wide/apps/cli/bench/peers/our_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <variant>

#include "wide/apps/cli/bench/line_program.h"
#include "wide/apps/cli/bench/peers/run_meter.h"
#include "wide/apps/edge/error_report.h"
#include "wide/apps/edge/this_machine.h"
#include "wide/base/error.h"
#include "wide/engine/ledger.h"
#include "wide/history/run_identity.h"
#include "wide/net/endpoint.h"
#include "wide/store/atomic_file.h"
#include "wide/store/ledger_log.h"
#include "wide/store/real_disk.h"

namespace wide::apps::bench {

namespace {

constexpr Patience kRunPatience(120);  // beyond the seconds that a run was given
constexpr Patience kLeavePatience(20);
constexpr Patience kListenPatience(20);
constexpr Patience kLookEvery(0.1);
constexpr int kLooksPerMemory = 10;
// Of the seconds that a run was given: from the end back to where all nodes are surely at work, and
// to where the last step is surely not yet made.
constexpr double kCostsFrom = 0.6;
constexpr double kCostsTo = 0.15;

// What the ledger says of a run, step by step.
struct Steps {
  std::vector<double> losses;
  std::vector<double> seconds;
  std::map<std::uint32_t, std::size_t> first_by_node;

  void add(const engine::CommitRecord& record) {
    for (const auto& one : record.contributors) {
      first_by_node.try_emplace(one.node.value, losses.size());
    }
    losses.push_back(record.loss);
    seconds.push_back(record.seconds);
  }

  // Everyone had given something by then; never more than half of the run is left out.
  std::size_t begin() const {
    std::size_t all = 0;
    for (const auto& [node, first] : first_by_node) all = std::max(all, first);
    return std::min(all, (losses.size() - 1) / 2);
  }
};

Steps read_steps(store::Disk& disk, const Digest& job_id) {
  Steps steps;
  const store::LogQuestion question{.job_id = job_id, .from = {}, .synced_to = 0};
  value_or_throw(store::read_log(disk, question, [&steps](const store::ReadRecord& read) {
    auto record =
        engine::decode_record(read.header.type, read.body, read.bulk, read.header.bulk_bytes);
    if (!record) return Result<void>(tl::unexpected(record.error()));
    if (const auto* commit = std::get_if<engine::CommitRecord>(&*record)) steps.add(*commit);
    return Result<void>();
  }));
  return steps;
}

// Commands that begin alike: a program of ours, a job, a folder for the run.
struct Errand {
  ScratchFolder folder;
  std::string job;
  std::string run;

  Errand(const SharedTask& task, const OurSetting& setting, const Environment& environment)
      : folder(environment), job(folder / "job.toml"), run(folder / "run") {
    value_or_throw(store::write_atomically(job, task.job_text(setting.nodes, setting.codec)));
  }

  std::vector<std::string> arguments(const std::string& command, double seconds) const {
    return {command,  job,     "--out", run, "--seconds", fmt::format("{:.3f}", seconds),
            "--json", "--log", "silent"};
  }
};

NodeCall call_of(std::vector<std::string> arguments, const Environment& environment) {
  NodeCall call;
  call.program = this_program();
  call.environment = environment;
  call.arguments = std::move(arguments);
  call.quiet = true;
  return call;
}

// The summary of a run that has ended well.
std::string last_words(LineProgram& run) {
  const std::string said = run.hear_all(kLeavePatience);
  const int code = run.exit_code(kLeavePatience);
  if (code == 0) return said;
  throw Failure(
      error_from_json(nlohmann::json::parse(said, nullptr, false))
          .value_or(Error{Errc::kComputeFailed, fmt::format("the run ended with code {}", code)}));
}

using Children = std::vector<std::unique_ptr<LineProgram>>;

std::vector<pid_t> processes_of(const Children& children) {
  std::vector<pid_t> processes;
  for (const auto& child : children) processes.push_back(child->process().id());
  return processes;
}

void wait_until_it_listens(LineProgram& pool, const ShapedNet& net, const std::string& url,
                           const Environment& environment) {
  const NodeCall question =
      net.inside(0, call_of({"status", url, "--json", "--log", "silent"}, environment));
  for (int i = 0; i < 400; ++i) {
    if (ask_program(question).exit_code == 0) return;
    if (pool.has_ended_within(kListenPatience / 400)) break;
  }
  throw Failure(Errc::kMachine, "the pool does not listen at " + url);
}

Children start_nodes(const SharedTask& task, const OurSetting& setting, const ShapedNet& net,
                     const std::string& url, const Environment& environment) {
  Children nodes;
  for (std::uint32_t i = 0; i < setting.nodes; ++i) {
    const auto call = call_of({"join", url, "--slots", "1", "--name", fmt::format("n{}", i + 1),
                               "--data", task.folder, "--log", "silent"},
                              environment);
    nodes.push_back(std::make_unique<LineProgram>(net.inside(i + 1, call)));
  }
  return nodes;
}

// Until this one has ended; calls `between` about once a second. Failure: it does not come to that.
void watch(
    LineProgram& program, RunMeter& meter, Patience patience,
    const std::function<void()>& between = [] {}) {
  int looks = 0;
  for (Patience waited{}; waited < patience; waited += kLookEvery) {
    if (program.has_ended_within(kLookEvery)) return;
    meter.look();
    if (++looks % kLooksPerMemory == 0) between();
  }
  throw Failure(Errc::kMachine, "the run did not come to its end");
}

Outcome outcome_with_costs(const std::string& run, const RunMeter& meter, double seconds) {
  Outcome outcome = outcome_of_run(run);
  const auto costs = meter.costs(kCostsFrom * seconds, kCostsTo * seconds);
  outcome.bytes_per_step = costs.bytes_per_second / outcome.steps_per_second;
  outcome.cpu_seconds_per_step = costs.cpu_per_second / outcome.steps_per_second;
  return outcome;
}

}  // namespace

Outcome outcome_of_run(const std::string& run) {
  store::RealDisk disk(run);
  const auto steps = read_steps(disk, value_or_throw(history::read_identity(disk)).job_id);
  if (steps.losses.size() < 2) throw Failure(Errc::kComputeFailed, "too few steps to measure");
  const std::size_t begin = steps.begin();
  Outcome outcome;
  outcome.steps = static_cast<double>(steps.losses.size());
  outcome.steps_per_second = static_cast<double>(steps.losses.size() - 1 - begin) /
                             (steps.seconds.back() - steps.seconds[begin]);
  outcome.curve = curve_of(steps.losses);
  return outcome;
}

Outcome train_on_loopback(const SharedTask& task, const OurSetting& setting,
                          const Environment& environment) {
  const Errand errand(task, setting, environment);
  auto arguments = errand.arguments("train", setting.seconds);
  arguments.insert(arguments.end(), {"--nodes", fmt::to_string(setting.nodes), "--slots", "1"});
  LineProgram train(call_of(std::move(arguments), environment));
  RunMeter meter({train.process().id()}, "lo", RunMeter::Device::kShared);
  watch(train, meter, Patience(setting.seconds) + kRunPatience);
  const std::string said = last_words(train);
  Outcome outcome = outcome_with_costs(errand.run, meter, setting.seconds);
  outcome.memory_bytes = nlohmann::json::parse(said).value("memory_bytes_peak", 0.0);
  return outcome;
}

Outcome train_on_net(const SharedTask& task, const OurSetting& setting, const ShapedNet& net,
                     const Environment& environment) {
  const Errand errand(task, setting, environment);
  const std::string url = fmt::format("wide://{}:{}", net.address(0), net::kDefaultPort);
  auto arguments = errand.arguments("pool", setting.seconds);
  arguments.insert(arguments.end(), {"--listen", net.address(0), "--insecure"});
  Children all;
  all.push_back(
      std::make_unique<LineProgram>(net.inside(0, call_of(std::move(arguments), environment))));
  wait_until_it_listens(*all.front(), net, url, environment);
  for (auto& node : start_nodes(task, setting, net, url, environment)) {
    all.push_back(std::move(node));
  }
  RunMeter meter(processes_of(all), ShapedNet::kDevice, RunMeter::Device::kOwn);
  watch(*all.front(), meter, Patience(setting.seconds) + kRunPatience,
        [&meter] { meter.look_at_memory(); });
  last_words(*all.front());
  for (auto& one : all) one->has_ended_within(kLeavePatience);
  Outcome outcome = outcome_with_costs(errand.run, meter, setting.seconds);
  outcome.memory_bytes = meter.memory_bytes_peak();
  return outcome;
}

}  // namespace wide::apps::bench
