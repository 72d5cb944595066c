#pragma once
// A simulated pool: the real engine::Pool and history::Keeper in a process that is killed at any
// event, or in the middle of any operation on its disk, and brought back from what the disk still
// has. Drives the engine as net/pool_server.cc and net/vault.cc do.
//
//   boot ─▶ recover ─▶ reopen ─▶ resume ─▶ … events … ─▶ the end
//     ▲                                          │
//     └──────────── kill, power cut ─────────────┘       (also on the way up)

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>

#include "wide/engine/pool/pool.h"
#include "wide/history/keeper.h"
#include "wide/sim/oracle.h"
#include "wide/sim/reference.h"
#include "wide/sim/sim_disk.h"
#include "wide/sim/sim_net.h"
#include "wide/sim/sim_plan.h"
#include "wide/sim/stage.h"

namespace wide::sim {

struct PoolCounts {
  std::uint64_t crashes = 0;
  std::uint64_t power_cuts = 0;
  std::uint64_t recoveries = 0;
};

class SimPool final : public LinkOwner {
 public:
  SimPool(Stage& stage, SimNet& net, SimDisk& disk, const SimPlan& plan, Reference& reference,
          Oracle& oracle);

  void boot();  // where no process runs
  void kill();
  void cut_power();
  void crash_in_disk();  // soon, wherever it then is
  void pause(Duration span);
  void stop();  // as its owner would; resumed after a while
  void heal();

  bool running() const { return process_ != nullptr; }
  bool over() const { return over_; }  // the run is at its end, and all of it on the disk
  const engine::Summary& summary() const { return summary_; }
  const PoolCounts& counts() const { return counts_; }
  void check() const;  // after every event

  Time awake_at() const override { return std::max(paused_until_, busy_until_); }
  void opened(LinkId link, std::uint32_t tag) override;
  void unanswered(std::uint32_t) override {}
  void heard(LinkId link) override;
  void received(LinkId link, wire::Message message, std::size_t wire_bytes) override;
  void broken(LinkId link, const Error& why) override;
  void closed(LinkId link, const Error& why) override;

 private:
  using ChorePtr = std::unique_ptr<history::Chore>;
  struct Process {
    Process(const SimPlan& plan, const engine::Genesis& genesis, BufferPool& buffers)
        : pool(plan.job, plan.space, genesis, plan.pool, buffers) {}

    engine::Pool pool;
    std::optional<history::Keeper> keeper;
    engine::Effects effects;
    std::deque<engine::LedgerRecord> unwritten;
    ChorePtr sync_chore;
    ChorePtr slow_chore;
    std::optional<Time> tick_at;
    bool retries = false;
    bool finished = false;
  };
  struct ProcessEnd final {};  // thrown where it ends itself

  // Everything that a process does happens inside this: it may end in the middle.
  void act(const std::function<void()>& deed);
  void later(Duration delay, std::function<void()> action);
  void run(std::uint32_t life, const std::function<void()>& action);
  void die(bool power);
  void boot_later();

  void come_up();
  void begin_anew();
  void go_on_from(const history::Recovered& recovered);
  void refuse_to_start(const Error& why);
  bool read_failed() const;
  bool damage_is_excused(Errc code);
  void recover_once_more();

  void settle();
  void arm_tick();
  void tick();
  void try_to_write();
  void wrote(const engine::LedgerRecord& record);
  void look_after();
  void run_chore(bool sync);
  void end_run();
  bool at_its_end() const;

  void on(engine::Send& send);
  void on(engine::SendManifest&) {
  }  // made-up samples are a function of the seed: nobody lacks them
  void on(engine::SendChunk&) {}
  void on(engine::SendSamples&) {}
  void on(engine::SetLimits& limits);
  void on(engine::Close& close);
  void on(engine::Append& append);
  void on(engine::Note& note);
  void on(engine::Evaluated&) {}
  void on(engine::Finished& finished);

  Stage& stage_;
  SimNet& net_;
  SimDisk& disk_;
  const SimPlan& plan_;
  Reference& reference_;
  Oracle& oracle_;
  std::unique_ptr<Process> process_;
  std::set<LinkId> links_;  // whose pool's end is open, or closing
  std::uint32_t life_ = 0;
  Time paused_until_{};
  Time busy_until_{};  // the disk's fault
  bool healed_ = false;
  bool over_ = false;
  bool booting_ = false;
  std::uint64_t unreadable_ = 0;  // read errors before it came up
  engine::Summary summary_;
  PoolCounts counts_;
};

}  // namespace wide::sim
