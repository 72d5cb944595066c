#pragma once
// Watches a simulated pool and says which promise it broke. The promises are those of a durable,
// exact run (I1 … I15 in the order of the list that tests and documents use):
//
//   I1   a committed step is never lost or changed; after a power cut a run of exact = "bits" may
//        compute at most its last 16 again, to the same bits
//   I2   steps are gapless, one commit each         I3   each block is in its step exactly once
//   I4   state after step t depends on the job and t alone
//   I5   nobody is told of a step whose record is not as safe as the job demands
//   I6   a result of another step or replica changes nothing
//   I7   what is accepted is finite                 I9   queues stay within their bounds
//   I10  recovering changes nothing, and gives the same again
//   I11  once faults end, the run does, too (world.cc)
//   I15  the same seed, the same trace (sim_run.cc)

#include <algorithm>
#include <cstdint>
#include <string>

#include "wide/engine/pool/pool.h"
#include "wide/history/keeper.h"
#include "wide/sim/reference.h"
#include "wide/sim/sim_disk.h"
#include "wide/sim/sim_plan.h"
#include "wide/sim/stage.h"

namespace wide::sim {

class Oracle final {
 public:
  Oracle(Stage& stage, const SimPlan& plan, Reference& reference, SimDisk& disk)
      : stage_(stage), plan_(plan), reference_(reference), disk_(disk) {}

  // The pool's process, in the order in which things happen to it.
  void tries(const engine::LedgerRecord& record);
  void wrote(const engine::LedgerRecord& record, const history::Keeper& keeper);
  void sends(const wire::Packet& packet);
  void looks(const engine::Pool& pool, const history::Keeper& keeper);  // after every event
  void takes_no_commit(const engine::Effects& effects);                 // of a wrong result
  void lost_power() { least_steps_ = std::min(least_steps_, firm_steps_); }
  void failed_sync() { least_steps_ = std::min(least_steps_, firm_steps_); }
  void checkpointed(Step step) { checkpointed_ = std::max(checkpointed_, step); }
  void recovered(const engine::Pool& pool, const history::Recovered& recovered,
                 bool disk_was_unreadable);
  void found_nothing();
  void resumed(const engine::Pool& pool);  // its log is open again, and what was torn is cut
  void ended(const engine::Pool& pool);    // with all that its log holds

  std::uint64_t commit_count() const { return commit_count_; }
  Step steps() const { return steps_; }

 private:
  void check_commit(const engine::CommitRecord& record, const char* where);
  void check_eval(const engine::EvalRecord& record, const char* where);
  void check_log();
  void check_folder();
  void require(bool holds, const char* promise, const std::string& what);

  Stage& stage_;
  const SimPlan& plan_;
  Reference& reference_;
  SimDisk& disk_;

  Step steps_ = 0;       // whose records stand
  Step firm_steps_ = 0;  // and would after a power cut
  Step tried_steps_ = 0;
  Step least_steps_ = 0;  // that must be found when it comes back
  Step checkpointed_ = 0;
  std::uint32_t node_floor_ = 0;    // numbers of nodes that took part before the pool came back
  std::uint64_t commit_count_ = 0;  // those computed again counted again
};

// Two recoveries of one disk say the same.
std::string fingerprint(const engine::Pool& pool);

}  // namespace wide::sim
