#include "wide/apps/cli/pool_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>

#include <nlohmann/json.hpp>

#include "wide/apps/cli/memory_gauge.h"
#include "wide/apps/cli/open_pool.h"
#include "wide/apps/cli/process_facts.h"
#include "wide/apps/cli/run_record.h"
#include "wide/apps/cli/script_model.h"
#include "wide/apps/cli/summary_table.h"
#include "wide/apps/edge/error_report.h"
#include "wide/apps/edge/this_machine.h"
#include "wide/base/log.h"
#include "wide/engine/work_ahead.h"
#include "wide/net/open_samples.h"
#include "wide/net/steady.h"

namespace wide::apps {

namespace {
constexpr Duration kLeavePatience = std::chrono::seconds(5);

using net::steady_now;

engine::PoolOptions pool_options(const RunFlags& flags, const RunRequest& request) {
  engine::PoolOptions options;
  options.nodes_coming = request.nodes > 0;
  if (request.nodes > 0 && !request.open_to_others) {
    options.slots_at_once = cores_available();
    options.nodes_help = request.nodes > 1 && request.nodes <= engine::kHelpedNodesMax &&
                         request.slots == 1 && cores_available() > 1;
  }
  options.lease_blocks = bounded("--lease-blocks", flags.lease_blocks, 0, 1u << 20);
  options.measure_efficiency = flags.efficiency;
  return options;
}

// Where nodes of this machine reach a pool that listens at `bound`.
net::Endpoint from_here(const net::Endpoint& bound) {
  if (!bound.is_any()) return bound;
  return {bound.host.find(':') == std::string::npos ? "127.0.0.1" : "::1", bound.port};
}
}  // namespace

PoolRun::PoolRun(RunRequest request, const RunFlags& flags, const Environment& environment)
    : request_(with_script(std::move(request), environment)),
      flags_(flags),
      environment_(environment),
      samples_(open_dataset()),
      space_(samples_->space()),
      view_(progress_style(flags.report.json, environment.value("TERM"))) {
  value_or_throw(engine::validate_fit(request_.job, space_));
  if (request_.nodes > 0) node_program_ = find_node_program(environment_);
  open_folder();
  open_server();
}

PoolRun::~PoolRun() = default;

data::DatasetPtr PoolRun::open_dataset() const {
  const auto cache =
      data::cache_folder(environment_.value("XDG_CACHE_HOME"), environment_.value("HOME"));
  const auto files = flags_.samples_folder.empty()
                         ? net::files_as_named(request_.job)
                         : net::files_in(flags_.samples_folder, request_.job);
  return value_or_throw(net::open_samples(request_.job, files, cache));
}

std::filesystem::path PoolRun::out_folder() const {
  if (!flags_.out.empty()) return flags_.out;
  return default_run_folder(request_.job.name, std::time(nullptr));
}

void PoolRun::open_folder() {
  if (flags_.resume && flags_.out.empty()) {
    throw Failure(Errc::kUsage, "--resume needs --out DIR: the folder of the run to go on with");
  }
  const auto path = out_folder();
  made_folder_ = !std::filesystem::exists(path);
  folder_.emplace(value_or_throw(flags_.resume ? store::RunFolder::resume(path)
                                               : store::RunFolder::create(path)));
  disk_ = std::make_unique<store::RealDisk>(folder_->path());
}

// Where anything is wrong, a port that is taken for example, nothing new is left behind.
void PoolRun::open_server() {
  net::PoolServerOptions options;
  options.listen = request_.listen;
  options.samples = samples_;
  const PoolParts parts{request_.job, space_, request_.genesis, pool_options(flags_, request_)};
  try {
    pool_ = make_pool(parts, flags_, *disk_, buffers_);
    server_ = std::make_unique<net::PoolServer>(*pool_, options, watcher(), &*folder_);
    auto ledger = open_ledger(parts, flags_, *pool_, *folder_, *disk_, buffers_);
    server_->keep(std::move(*ledger.keeper), ledger.resumed);
  } catch (const Failure&) {
    std::error_code ignored;
    if (made_folder_) std::filesystem::remove_all(folder_->path(), ignored);
    throw;
  }
}

net::PoolWatcher PoolRun::watcher() {
  net::PoolWatcher watcher;
  watcher.on_progress = [this](const engine::Progress& progress) {
    show([&](Time now) { view_.progress(progress, now); });
    watch_local_nodes(progress);
  };
  watcher.on_note = [this](const engine::Note& note) { show([&](Time) { view_.note(note); }); };
  watcher.on_evaluated = [this](const engine::Evaluated& evaluated) {
    show([&](Time) { view_.evaluated(evaluated); });
  };
  return watcher;
}

void PoolRun::show(const std::function<void(Time now)>& lines) {
  const Time begun = steady_now();
  lines(begun);
  shown_for_ += steady_now() - begun;
}

void PoolRun::announce() const {
  log::info("run folder {}", folder_->path().string());
  if (pool_->complete()) return log::info("the run had come to its end; nothing is left to do");
  const auto& bound = server_->bound();
  if (!request_.open_to_others) return log::detail("listening at {}", bound.text());
  const auto lines = join_lines(bound, net::addresses_for_others());
  if (lines.empty()) log::info("warning: found no address of this machine that others could use");
  for (const auto& line : lines) fmt::print(flags_.report.json ? stderr : stdout, "{}\n", line);
  std::fflush(stdout);
  if (bound.is_loopback()) {
    log::info(
        "that line works on this machine only; to let others join: --listen 0.0.0.0 --insecure");
  } else {
    log::info("warning: no encryption and no tokens: anyone who reaches {} can join", bound.text());
  }
}

void PoolRun::start_local_nodes() {
  if (request_.nodes == 0 || pool_->complete()) return;
  NodeCall call;
  call.program = node_program_;
  call.environment = node_environment(environment_, request_.job.train.numerics);
  call.arguments = {"local",
                    "--connect",
                    from_here(server_->bound()).text(),
                    "--nodes",
                    std::to_string(request_.nodes),
                    "--slots",
                    std::to_string(request_.slots),
                    "--log",
                    flags_.report.log,
                    "--job",  // others are not told of paths; these nodes are on this machine
                    folder_->file("job.toml").string()};
  const auto pass_on = [&call](const char* flag, const std::string& value) {
    if (!value.empty()) call.arguments.insert(call.arguments.end(), {flag, value});
  };
  pass_on("--data", flags_.samples_folder);
  pass_on("--model", request_.job.model.file);
  local_nodes_ = std::make_unique<LocalNodes>(call);
}

// A closed run whose nodes have all ended would wait for ever: nobody else knows where it is.
void PoolRun::watch_local_nodes(const engine::Progress& progress) {
  if (!local_nodes_ || request_.open_to_others || local_failure_) return;
  if (progress.nodes > 0 || progress.state == "finished") return;
  const auto ending = local_nodes_->ending();
  if (!ending) return;
  // Nodes that read a file which was cut short end before anyone has looked at it.
  const auto same = samples_->unchanged();
  local_failure_ = !same ? same.error()
                         : Error{Errc::kNodesEnded,
                                 fmt::format("{}; any message of theirs stands above", *ending)};
  server_->stop("the local nodes ended");
}

void PoolRun::gather_facts(std::optional<Error> error, std::uint64_t memory_bytes_peak) {
  facts_.summary = pool_->summary();
  facts_.memory_bytes_peak = memory_bytes_peak;
  facts_.pool_cpu_seconds = cpu_seconds_of(getpid()) - cpu_seconds_before_;
  facts_.log_seconds = seconds(shown_for_);
  facts_.run_folder = folder_->path().string();
  facts_.interrupted = server_->interrupted();
  facts_.error = local_failure_ ? local_failure_ : std::move(error);
  if (facts_.error && facts_.error->code == Errc::kInterrupted) facts_.error.reset();
}

ExitCode PoolRun::report() const {
  if (flags_.report.json) {
    print_json(summary_json(facts_));
  } else {
    fmt::print("{}", summary_table(facts_));
  }
  std::fflush(stdout);
  if (facts_.error) {
    report_error(*facts_.error, false);  // with --json the object above holds it already
    return exit_code_of(*facts_.error);
  }
  return facts_.interrupted ? ExitCode::kInterrupted : ExitCode::kOk;
}

ExitCode PoolRun::run() {
  raise_descriptor_limit();  // every node takes one
  announce();
  start_local_nodes();
  MemoryGauge gauge(local_nodes_ ? std::optional(local_nodes_->pid()) : std::nullopt);
  cpu_seconds_before_ = cpu_seconds_of(getpid());
  auto error = server_->run();
  view_.clear();
  gather_facts(std::move(error), gauge.stop());
  record_end(*folder_, *pool_, space_, facts_);
  if (local_nodes_) local_nodes_->let_go(kLeavePatience);
  return report();
}

std::vector<std::string> join_lines(const net::Endpoint& bound,
                                    const std::vector<std::string>& addresses) {
  if (!bound.is_any()) return {"wide join " + bound.url()};
  const bool only_version_4 = bound.host.find(':') == std::string::npos;
  std::vector<std::string> lines;
  for (const auto& address : addresses) {
    if (only_version_4 && address.find(':') != std::string::npos) continue;
    lines.push_back("wide join " + net::Endpoint{address, bound.port}.url());
  }
  return lines;
}

}  // namespace wide::apps
