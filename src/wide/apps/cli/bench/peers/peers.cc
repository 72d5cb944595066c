#include "wide/apps/cli/bench/peers/peers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <utility>

#include "wide/apps/cli/bench/peers/contest.h"
#include "wide/apps/cli/bench/peers/ddp.h"
#include "wide/apps/cli/bench/peers/our_run.h"
#include "wide/apps/cli/bench/peers/shaped_net.h"
#include "wide/apps/cli/process_facts.h"
#include "wide/base/error.h"

namespace wide::apps::bench {

namespace {

using Clock = std::chrono::steady_clock;
using Side = Contest::Side;

constexpr std::uint32_t kGoalRanks = 10;
constexpr std::array<std::uint32_t, 2> kOtherRanks = {4, 2};
constexpr std::uint32_t kNetRanks = 4;
constexpr std::array<std::uint32_t, 3> kMegabits = {1000, 100, 10};
constexpr const char* kPlain = "DDP + Gloo, plain";
constexpr const char* kPinned = "DDP + Gloo, plain, ranks pinned";

// Parts of the time there is: for rounds of one kind, and for one run in them.
constexpr double kGoalShare = 0.32;
constexpr double kOthersShare = 0.12;
constexpr double kLoopbackRun = 0.008;
constexpr double kOurLonger = 3;  // each of our nodes has a first turn before it gets going
constexpr double kNetRun = 0.015;
constexpr double kSlowNetRun = 0.12;  // where a step takes seconds
constexpr double kRunSecondsLeast = 0.5;
constexpr Patience kJoining(2);  // of our nodes, each of which loads libtorch for itself

struct Hook {
  const char* word;
  const char* name;
};
constexpr std::array<Hook, 3> kHooks = {{{"none", kPlain},
                                         {"fp16", "DDP + Gloo, fp16 hook"},
                                         {"powersgd", "DDP + Gloo, PowerSGD hook"}}};

class PeerBench final {
 public:
  PeerBench(double seconds, const Environment& environment)
      : seconds_(seconds), environment_(environment), scratch_(environment) {}

  Report run() {
    start_ddp();
    const SharedTask tiny = tiny_task(scratch_);
    add_note_on(tiny, "loopback");
    note(
        fmt::format("On loopback ours ran {} times as long as DDP, which has found its speed at "
                    "its second step; each of our nodes has a first turn before it gets going.",
                    kOurLonger));
    loopback(tiny, kGoalRanks, seconds_ * kGoalShare);
    for (const auto ranks : kOtherRanks) {
      loopback(tiny, ranks, seconds_ * kOthersShare / kOtherRanks.size());
    }
    nets();
    finish();
    return std::move(report_);
  }

 private:
  double spent() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }
  double run_seconds(double share) const { return std::max(kRunSecondsLeast, seconds_ * share); }
  void note(std::string words) { report_.notes.push_back(std::move(words)); }
  void add_note_on(const SharedTask& task, const std::string& where) {
    note(fmt::format("{}: {}, one batch for each rank in a step, adam.", where, task.name));
  }

  void start_ddp() {
    try {
      ddp_ = std::make_unique<Ddp>(scratch_, environment_);
    } catch (const Failure& failure) {
      note(fmt::format("PyTorch's DDP was not measured (python3-torch is needed): {}",
                       describe(failure.error())));
    }
  }

  // As many rounds as fit into the time, one at least.
  void hold(Contest contest, double seconds) {
    const double begun = spent();
    double round_seconds = 0;
    do {
      const double before = spent();
      contest.round(report_.notes);
      round_seconds = spent() - before;
    } while (spent() + round_seconds <= begun + seconds);
    const auto rows = contest.rows();
    report_.rows.insert(report_.rows.end(), rows.begin(), rows.end());
    contest.add_lines(table_);
    if (const auto loss = contest.loss())
      losses_ += fmt::format(" {}: {:.3f};", contest.title(), *loss);
  }

  void add_theirs(Contest& contest, const std::string& name, const SharedTask& task,
                  const DdpSetting& setting) {
    if (!ddp_) return;
    contest.add(Side::kTheirs, name, [this, &task, setting] { return ddp_->train(task, setting); });
  }

  void add_hooks(Contest& contest, const SharedTask& task, DdpSetting setting) {
    for (const auto& hook : kHooks) {
      setting.hook = hook.word;
      add_theirs(contest, hook.name, task, setting);
    }
  }

  void loopback(const SharedTask& task, std::uint32_t ranks, double seconds) {
    const double span = run_seconds(kLoopbackRun);
    Contest contest("loopback", ranks, task.batch);
    contest.add(Side::kOurs, "", [this, &task, ranks, span] {
      return train_on_loopback(task, {.nodes = ranks, .codec = "", .seconds = span * kOurLonger},
                               environment_);
    });
    DdpSetting theirs{.ranks = ranks, .seconds = span};
    add_hooks(contest, task, theirs);
    theirs.pinned = true;
    add_theirs(contest, kPinned, task, theirs);
    hold(std::move(contest), seconds);
  }

  void nets() {
    if (spent() > seconds_) return note("Shaped links were left out: the time was up.");
    try {
      const SharedTask middle = middle_task(scratch_, environment_);
      add_note_on(middle, "shaped links");
      for (const auto megabits : kMegabits) net(middle, megabits);
    } catch (const Failure& failure) {
      note(fmt::format("Shaped links were left out: {}", describe(failure.error())));
    }
  }

  void net(const SharedTask& task, std::uint32_t megabits) {
    const std::string where = fmt::format("{} Mbit/s", megabits);
    if (spent() > seconds_) return note(where + " was left out: the time was up.");
    const double span = run_seconds(megabits > 10 ? kNetRun : kSlowNetRun);
    const ShapedNet net(kNetRanks + 1, megabits, environment_);
    Contest contest(where, kNetRanks, task.batch);
    const auto ours = [&](const char* name, const char* codec) {
      contest.add(Side::kOurs, name, [this, &task, &net, codec, span] {
        return train_on_net(
            task, {.nodes = kNetRanks, .codec = codec, .seconds = span + kJoining.count()}, net,
            environment_);
      });
    };
    ours("", "");
    ours("int8", "gradient = \"int8\"\nupdate = \"int8\"\n");
    const std::vector<std::string> machines(net.names().begin() + 1, net.names().end());
    add_hooks(contest, task,
              {.ranks = kNetRanks,
               .pinned = true,
               .seconds = span,
               .device = ShapedNet::kDevice,
               .namespaces = machines});
    hold(std::move(contest), 0);
  }

  void set_goal() {
    for (auto& row : report_.rows) {
      const bool is_it = row.name.starts_with(fmt::format("loopback, {} ranks", kGoalRanks));
      const bool at_its_best = row.against == kPlain || row.against == kPinned;
      if (is_it && at_its_best) row.goal = Goal{.target = 30, .limit = 50};
    }
  }

  void say_how() {
    note(
        "Ours: `wide train`, or `wide pool` and `wide join` on a shaped link: real processes and a "
        "ledger, exact = \"bits\", the usual lossless coding.");
    if (ddp_) {
      note(fmt::format(
          "DDP: torch {}, Gloo on the interface named, one thread per rank, one bucket, gradients "
          "as its views, static graph, samples in memory; PowerSGD: rank 1, warm start, from the "
          "third step on. \"pinned\", and on all shaped links: rank r stays on core r modulo the "
          "cores, which torchrun does not do by itself and DDP gains by.",
          ddp_->torch_version()));
    }
    std::string control = read_proc("/proc/sys/net/ipv4/tcp_congestion_control");
    if (control.ends_with('\n')) control.pop_back();
    note(fmt::format("Congestion control, of both: {}.", control));
    note(
        "Bytes: all that the network device sent, as the kernel counts it: with headers, and on "
        "loopback with whatever else is said there. Bytes and CPU time: while training. Memory: "
        "proportional set size of all processes.");
    note(
        "Runs on loopback with 10 ranks: medians of as many rounds as there was time for; all "
        "others: "
        "one run each.");
    note(
        "Shaped links: one network namespace per machine, tbf at both ends of every cable, with a "
        "bucket of 10 ms.");
    if (!losses_.empty()) {
      losses_.back() = '.';
      note("Time to a loss: steps to it over steps per second; a loss that all reach:" + losses_);
    }
  }

  void say_where_they_win() {
    std::map<std::string, std::pair<double, double>> lost;  // by row: the least and the most
    for (const auto& row : report_.rows) {
      if (!row.ratio || *row.ratio >= 1) continue;
      auto& range = lost.try_emplace(row.name, *row.ratio, *row.ratio).first->second;
      range = {std::min(range.first, *row.ratio), std::max(range.second, *row.ratio)};
    }
    if (lost.empty()) return;
    std::string words;
    for (const auto& [name, range] : lost) {
      words += fmt::format("\n    {}: {:.2f} to {:.2f} of DDP", name, range.first, range.second);
    }
    note(
        "DDP is faster here, since bytes decide: with W ranks a star moves W²/2(W-1) times as much "
        "over its busiest cable as a ring (2.7 times with 4, 5.6 with 10). PowerSGD sends least of "
        "all; we have it for updates alone." +
        words);
  }

  void finish() {
    set_goal();
    say_how();
    say_where_they_win();
    report_.tables = table_.text();
  }

  const double seconds_;
  const Environment environment_;
  const Clock::time_point began_ = Clock::now();
  ScratchFolder scratch_;
  std::unique_ptr<Ddp> ddp_;
  Report report_;
  TextTable table_{Contest::table_head()};
  std::string losses_;
};

}  // namespace

Report bench_peers(double seconds, const Environment& environment) {
  return PeerBench(seconds, environment).run();
}

}  // namespace wide::apps::bench
