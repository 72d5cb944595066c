#pragma once
// A node: joins a pool, keeps a replica, keeps its slots busy, sends back what they computed.
// A state machine without I/O, like the pool. Leases are asked for ahead, so that a slot that is
// done finds its next one waiting.
//
// Who has computed a whole step alone knows what the pool will make of it, and what it will be
// asked for next if nothing changes: it works ahead instead of waiting to be told. A lease that
// names the very weights it foresaw is answered from that; any other finds nothing. Where a lease
// allows it, a node goes on like that for many steps, and hands in their results by the bunch.
//
//   connected ─▶ Hello … Welcome ─▶ Prepare (open the samples, build the slots) ─▶ prepared
//   ─▶ Ready, Want ─▶ Lease ─▶ Compute ─▶ computed ─▶ LeaseResult …
//   closed ─▶ leases are forgotten; the replica, and what was computed on it, are kept; the driver
//   dials again, and Ready says what is there

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "wide/base/buffer.h"
#include "wide/base/clock.h"
#include "wide/base/error.h"
#include "wide/engine/job.h"
#include "wide/engine/lease_work.h"
#include "wide/engine/node/kept_results.h"
#include "wide/engine/replica.h"
#include "wide/engine/update_codec.h"
#include "wide/wire/frame_writer.h"

namespace wide::engine {

struct NodeOptions {
  std::string name;
  std::uint16_t slots = 1;
  std::string program_version;
  std::uint16_t seat = 0;  // among those of this machine who help each other; 0: none
};

// Open the samples of this job and build the slots; then call prepared() or fail.
struct Prepare {
  Job job;
  Digest samples_sha256;  // what the samples must hash to
};

// A piece of work in a slot. Lease ids belong to a link and may come again on the next one; these
// never do.
using TaskId = Id<struct TaskTag, std::uint64_t>;

// A slot is free and shall do this. Call computed() with the outcome, on the I/O thread.
struct Compute {
  TaskId task;
  wire::Lease lease;
  Weights weights;
};
struct ComputeEval {
  TaskId task;
  wire::EvalLease lease;
  Weights weights;
};
// Every slot computes units on these weights for so long, with no network; then call measured().
struct MeasureSlots {
  Duration span;
  Weights weights;
};

struct NodeSend {
  wire::SharedPacket packet;
};
struct NodeSetLimits {
  wire::Limits limits;
};
// Leave this link once all is sent. An error with `final` set means: do not dial again.
struct Hangup {
  std::optional<Error> error;
  bool final = false;
};
struct NodeNote {
  bool detail = false;
  std::string text;
};

using NodeEffect = std::variant<Prepare, Compute, ComputeEval, MeasureSlots, NodeSend,
                                NodeSetLimits, Hangup, NodeNote>;
using NodeEffects = std::vector<NodeEffect>;

class Node final {
 public:
  Node(NodeOptions options, BufferPool& buffers);

  // Events.
  void connected(Time now, NodeEffects& effects);
  void received(wire::Message&& message, Time now, NodeEffects& effects);
  // All that had come was received, behind each message and each outcome: time to work ahead.
  void drained(Time now, NodeEffects& effects);
  void closed(Time now);
  void prepared(const SampleSpace& space, const Genesis& genesis, std::string libraries,
                const Digest& class_hash, Time now, NodeEffects& effects);
  void computed(TaskId task, LeaseOutcome outcome, Duration compute_span, Time now,
                NodeEffects& effects);
  void computed_eval(TaskId task, std::vector<wire::EvalRow> rows, Duration compute_span, Time now,
                     NodeEffects& effects);
  void helped(Block blocks, Duration span);  // others, while it had no work of its own
  void measured(std::uint64_t units, Duration span, Time now, NodeEffects& effects);
  void spent_on_network(Duration span) { times_.network_ns += span.count(); }
  void spent_on_coding(Duration span) { times_.encode_ns += span.count(); }
  void tick(Time now, NodeEffects& effects);  // about every heartbeat
  void leave(const std::string& reason, Time now, NodeEffects& effects);

  // Whether what was just handed in can wait for the next result, which will be here soon: a pool
  // that gets several at once is woken once.
  bool may_wait();

  // Questions.
  bool joined() const {
    return joined_;
  }  // at least once: from then on the driver retries for ever
  const std::string& name() const { return name_; }
  const Job* job() const { return job_ ? &*job_ : nullptr; }
  const Layout* layout() const { return layout_ ? &*layout_ : nullptr; }
  const Replica* replica() const { return replica_.get(); }
  std::uint64_t units_done() const { return units_done_; }

 private:
  using AnyLease = std::variant<wire::Lease, wire::EvalLease>;

  void on(wire::Welcome& welcome);
  void on(wire::Refused& refused);
  void on(wire::Lease& lease);
  void on(wire::EvalLease& lease);
  void on(wire::Update& update);
  void on(wire::Committed& committed);
  void on(wire::Snapshot& snapshot);
  void on(wire::Yield& yield) { left_to_others_ = yield.step; }
  void on(wire::Measure& measure);
  void on(wire::Bye& bye);
  void on(wire::Heartbeat&) {}
  // Samples are the driver's business, which has seen these before they came here.
  void on(wire::Manifest&) {}
  void on(wire::Chunk&) {}
  void on(wire::Samples&) {}
  template <class Other>
  void on(Other& message);

  void announce();  // Ready and Want
  void enqueue(AnyLease lease);
  void fill_slots();
  void drop_stale();
  void drop_work();
  void resync(const std::string& reason);
  std::optional<AnyLease> end_task(TaskId task, Duration compute_span);
  bool answer_from_kept(const wire::Lease& lease);
  void answer(const wire::Lease& lease, const LeaseOutcome& outcome, Duration compute_span,
              std::uint32_t want);
  void work_ahead();
  void go_on();
  void foresee_whole_steps();
  bool more_of_its_step_comes() const;
  TaskId begin_unasked(wire::Lease lease, const Weights& base);
  std::optional<StepUpdate> update_by(const LeaseOutcome& whole_step);
  bool may_come(Step step) const;
  void ahead_was(bool right);
  std::vector<wire::KeptRun> kept_runs() const;
  bool still_good(const WorkKey& work) const;
  void account_wait();
  void send(wire::Message message);
  void hang_up(Errc code, std::string why, bool final);

  NodeOptions options_;
  BufferPool& buffers_;
  NodeEffects* effects_ = nullptr;  // of the event at hand
  Time now_{};

  std::string name_;
  bool joined_ = false;
  bool linked_ = false;
  bool welcomed_ = false;   // on this link
  bool announced_ = false;  // on this link
  bool resyncing_ = false;
  std::optional<Job> job_;
  std::optional<Layout> layout_;
  std::optional<SampleSpace> space_;
  wire::Welcome welcome_;
  std::string libraries_;
  Digest class_hash_;
  std::unique_ptr<Replica> replica_;
  std::optional<UpdateCodec> update_codec_;

  std::deque<AnyLease> queue_;
  std::map<TaskId, AnyLease> busy_;  // this link's tasks in slots
  std::map<TaskId, WorkKey>
      orphans_;  // tasks in slots whose link is gone, or that nobody asked for
  KeptResults kept_;
  std::optional<WorkKey> whole_;        // the last answer, where that was a whole step
  std::optional<WorkKey> ahead_;        // what is, or was, computed ahead and may yet be asked for
  std::optional<Step> left_to_others_;  // never begun unasked
  std::optional<wire::Lease> onward_;   // from which this node may go on
  Step next_onward_ = 0;                // the first that it has not begun
  std::set<TaskId> unasked_;            // of busy_: what it is at on that account
  std::optional<Time> waits_since_;     // a result, for the next ones
  unsigned ahead_wrong_ = 0;            // in a row
  unsigned ahead_skips_ = 0;
  std::uint32_t busy_slots_ = 0;    // slots at work, also for links that are gone
  std::optional<Step> brief_step_;  // of the last result, where that took next to no time
  std::uint64_t next_task_ = 1;
  std::uint64_t units_done_ = 0;
  wire::NodeTimes times_;  // of this link
  Time waited_until_{};
  Duration helped_for_{};  // since then
};

}  // namespace wide::engine
