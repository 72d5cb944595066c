#include "wide/apps/node/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include <nlohmann/json.hpp>

#include "wide/apps/edge/command_line.h"
#include "wide/apps/edge/error_report.h"
#include "wide/apps/edge/log_flag.h"
#include "wide/base/log.h"
#include "wide/engine/lease_work.h"
#include "wide/history/replay.h"
#include "wide/net/open_samples.h"
#include "wide/store/real_disk.h"
#include "wide/train/script_file.h"
#include "wide/train/torch_factory.h"

namespace wide::apps {

namespace {

using Json = nlohmann::ordered_json;

struct ReplayFlags {
  std::string run;
  std::optional<std::uint64_t> step;
  std::string samples_folder;
  std::string model_file;
  std::string log = "normal";
  bool json = false;

  void declare(CommandLine& line) {
    line.positional("DIR", run, "the run folder");
    line.whole("--step", step, "which step; the first is 0");
    line.text("--data", samples_folder, "where the samples lie on this machine");
    line.text("--model", model_file, "the job's TorchScript file");
    line.text("--log", log, "silent, normal or verbose");
    line.flag("--json", json, "one JSON object on stdout");
  }
};

data::DatasetPtr open_samples(const ReplayFlags& flags, const history::RunIdentity& identity,
                              const Environment& environment) {
  const auto cache =
      data::cache_folder(environment.value("XDG_CACHE_HOME"), environment.value("HOME"));
  const auto files = flags.samples_folder.empty()
                         ? net::files_as_named(identity.job)
                         : net::files_in(flags.samples_folder, identity.job);
  auto samples = value_or_throw(net::open_samples(identity.job, files, cache));
  if (samples->space().sha256 != identity.space.sha256) {
    throw Failure(Errc::kSamplesDiffer,
                  "the samples here are not the ones that the run was "
                  "trained on");
  }
  return samples;
}

void take_script(const std::string& file, history::RunIdentity& identity) {
  if (identity.job.model.kind != engine::ModelKind::kTorchScript) return;
  if (!file.empty()) identity.job.model.file = file;
  auto script =
      value_or_throw(train::read_script_file(identity.job.model.file, identity.job.model.sha256));
  identity.genesis = std::move(script.genesis);
}

Digest class_here(engine::UnitComputer& computer, const engine::ComputerFactory& factory,
                  const history::RunIdentity& identity, BufferPool& buffers) {
  auto genesis = std::make_shared<engine::WeightsVersion>();
  genesis->values = take_floats(buffers, identity.layout.value_count());
  std::ranges::copy(identity.genesis->values, genesis->values.values.begin());
  return engine::numerics_class(computer, factory.libraries(), identity.layout, genesis, buffers);
}

Json as_json(const history::ReplayReport& report) {
  Json json;
  json["step"] = report.step;
  json["equal"] = report.equal();
  json["update_equal"] = report.update_equal;
  json["replica_from"] = report.replica_from;
  json["updates_applied"] = report.updates_applied;
  json["steps_recomputed"] = report.steps_recomputed;
  json["class_here"] = report.class_here.hex();
  json["other_class"] = report.other_class();
  json["blocks"] = Json::array();
  for (const auto& block : report.blocks) {
    json["blocks"].push_back({{"block", block.block},
                              {"node", block.node},
                              {"sha256", block.ledger.hex()},
                              {"sha256_here", block.here.hex()},
                              {"equal", block.equal()}});
  }
  return json;
}

void print_for_people(const history::ReplayReport& report) {
  for (const auto& block : report.blocks) {
    fmt::print("block {:>5}  {}  {:<16} {}\n", block.block, block.ledger.short_hex(), block.node,
               block.equal() ? "equal" : "DIFFERENT: " + block.here.short_hex());
  }
  fmt::print("update       {}\n", report.update_equal ? "equal, to the bit" : "DIFFERENT");
  fmt::print("step {} was computed from {} and {} updates of the ledger\n", report.step,
             report.replica_from > 0 ? fmt::format("the checkpoint of step {}", report.replica_from)
                                     : "genesis",
             report.updates_applied);
  if (report.steps_recomputed > 0) {
    fmt::print("{} steps before it were computed again: their updates are pruned\n",
               report.steps_recomputed);
  }
  if (!report.equal() && report.other_class()) {
    fmt::print(
        "some of it was computed in another numerics class than this machine's: other bits "
        "are no fault there\n");
  }
}

}  // namespace

int run_replay(const std::vector<std::string>& arguments, const Environment& environment) {
  ReplayFlags flags;
  CommandLine line("wide-node", "replay", "One step of a run, computed once more.", "");
  flags.declare(line);
  if (!line.parse(arguments)) return 0;
  log::set_level(log_level(flags.log));
  if (!flags.step) throw Failure(Errc::kUsage, "wide-node replay needs --step T");

  store::RealDisk disk(flags.run);
  auto identity = value_or_throw(history::read_identity(disk));
  take_script(flags.model_file, identity);
  const auto samples = open_samples(flags, identity, environment);
  const auto factory =
      train::make_torch_factory(identity.job, identity.layout, samples, identity.job.model.file);
  const auto computer = factory->make_computer();
  BufferPool buffers;
  const history::ReplayTools tools{
      *computer, class_here(*computer, *factory, identity, buffers), [](Step step) {
        if (step == 0) log::info("updates are pruned: computing every step from genesis on");
        log::detail("computing step {}", step);
      }};
  const auto report = value_or_throw(history::replay(disk, identity, *flags.step, tools, buffers));
  if (flags.json) {
    fmt::print("{}\n", as_json(report).dump(2));
  } else {
    print_for_people(report);
  }
  if (report.equal()) return 0;
  const Error error{Errc::kRunDiffers,
                    fmt::format("step {} comes out differently here", report.step)};
  report_error(error, false);
  return static_cast<int>(exit_code_of(error));
}

}  // namespace wide::apps
