#pragma once
// The pool's insides. pool.h has the promises; the verbs live in
//   pool_join.cc     hello, ready, want, leave, status     who may work
//   pool_lease.cc    grants, copies, bringing replicas up  who works on what
//   pool_onward.cc   bookings, and their end               who goes on unasked
//   pool_result.cc   results, late ones, refused ones      what counts
//   pool_ship.cc     manifests, chunks, samples            who gets what to work on
//   pool_step.cc     commits, evaluations, the end         how the run goes on
//   pool_resume.cc   checkpoints, records                  how it comes back
//   pool_report.cc   progress, summary, status reports     how it looks

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "wide/base/stats.h"
#include "wide/engine/lead_replica.h"
#include "wide/engine/lossy_choice.h"
#include "wide/engine/pool/crew_sizer.h"
#include "wide/engine/pool/lease_book.h"
#include "wide/engine/pool/pool.h"
#include "wide/engine/pool/roster.h"
#include "wide/engine/pool/update_ring.h"
#include "wide/engine/strategy/eval_round.h"
#include "wide/engine/strategy/step_round.h"
#include "wide/engine/work_ahead.h"

namespace wide::engine {

class Pool::Run final {
 public:
  Run(Job job, SampleSpace space, const Genesis& genesis, PoolOptions options, BufferPool& buffers);

  void received(Member& member, wire::Message&& message);
  void drop(LinkId link, const std::string& why);  // its leases are free again
  void refuse(Member& member, Errc code, std::string reason);
  void tick();
  void stop(const std::string& reason);
  void fail(Error error);
  void hand_out();
  void appended();

  bool stand_at(const Genesis& genesis);
  bool restore(const FrozenReplica& replica, Past past);
  bool recall(const LedgerRecord& record);
  void resume();
  bool held() const { return pending_ && !held_by_.empty(); }  // what is computed cannot be written
  bool ended() const;                                          // the ledger says so
  bool steps_done() const;                                     // or it will, at the next boundary
  bool eval_due() const;

  Progress progress(Time now) const;
  Summary summary() const;
  GenesisRecord genesis() const;
  Footprint footprint() const;
  bool reaches_back() const;

  static constexpr Duration kMeasureEvery = std::chrono::seconds(1);  // at first

  enum class Phase { kTraining, kEvaluating, kMeasuring, kFinished };

  // With a delay: a step that is not open yet, and who shall have it.
  struct Promise {
    Step step = 0;
    LinkId link;
  };

  // Who goes on from step to step without being asked, and is booked for them.
  struct Onward {
    LinkId link;
    LeaseId lease;                 // that it went on from
    std::uint32_t ahead_most = 0;  // steps beyond those that are open
    Step next = 0;                 // the first that it is not booked for
    std::optional<Step> end;       // which it was asked to leave to the next of the crew
    Step made_from = 0;            // steps that were accepted from it:
    Step made_end = 0;             // [from, end)
  };

  // Settings.
  Job job_;
  SampleSpace space_;
  PoolOptions options_;
  Layout layout_;
  std::string job_text_;
  Digest job_id_;
  Digest genesis_sha256_;
  std::uint64_t step_count_;  // 0: ends by time
  wire::Limits limits_;

  // Neighbours.
  BufferPool& buffers_;
  Effects* effects_ = nullptr;  // of the event at hand

  // State.
  Phase phase_ = Phase::kTraining;
  bool stands_ = false;
  LeadReplica lead_;
  const Replica& replica_ = lead_.replica();
  Past past_;
  Roster roster_;
  LeaseBook leases_;
  bool helped_ = options_.nodes_help && may_be_helped(job_, layout_);
  CrewSizer sizer_{{1 + job_.delay, options_.slots_at_once}};
  double block_seconds_ = 0;  // by whomever, smoothed; 0: not known yet
  LinkId crew_first_{};       // who is first to be asked, for a while
  LinkId crew_last_{};        // the last who was
  Time crew_since_{};
  std::uint32_t slots_had_turns_ = 0;  // counted until all of them had one
  LossyChoice codecs_;
  UpdateRing ring_;
  std::deque<StepRound> rounds_;  // open steps: the next to be committed, and its delay's
  std::optional<StepRound> previous_round_;  // its rows judge late results
  std::optional<CommitRecord> pending_;      // of the first round: on its way to the ledger
  CodedUpdate pending_update_;
  std::deque<Footprint> trail_;  // behind the present, as many as the delay; oldest first
  std::string held_by_;          // why the ledger cannot take it now
  std::optional<Promise> promise_;
  std::optional<Onward> onward_;
  std::optional<LeaseId> broken_onward_;
  std::map<Step, std::uint64_t> seen_ahead_;  // chains of steps that nodes have and we lost
  std::optional<EvalRound> eval_;
  wire::SharedPacket snapshot_;  // of the footprint, made when first needed
  Digest pinned_class_;
  std::uint32_t next_node_ = 1;
  bool last_eval_done_ = false;
  bool said_waiting_ = false;

  Time now_{};
  Time ticked_at_{};
  Time looked_at_{};
  std::optional<Time> started_at_;  // the first lease
  Time step_started_at_{};
  Duration busy_{};  // training time; evaluations and time when nobody works left out
  Time phase_since_{};
  Duration measure_span_{};
  Duration measure_at_ = kMeasureEvery;  // of training time
  double alone_units_ = 0;               // computed by all slots with no network
  double alone_seconds_ = 0;

  DurationHistory turnarounds_;
  RateMeter rate_;
  std::deque<double> norms_;
  std::set<Digest> classes_;       // of accepted shares
  Summary totals_;                 // what no ledger keeps
  std::uint64_t bytes_saved_ = 0;  // by lossless codes, both ways

 private:
  // pool_join.cc
  void on(Member& member, wire::Hello& hello);
  void on(Member& member, wire::Ready& ready);
  void on(Member& member, wire::Want& want);
  void give_credit(Member& member, std::uint32_t leases);
  void take_up_replica(Member& member, const wire::Ready& ready);
  void take_up_kept(Member& member);
  void on(Member& member, wire::Resync& resync);
  void on(Member& member, wire::Leave& leave);
  void on(Member& member, wire::StatusRequest& request);
  void on(Member& member, wire::Measured& measured);
  void on(Member& member, wire::Heartbeat& heartbeat);
  void on(Member& member, wire::Echo& echo);
  void look_around(bool asleep);
  bool class_fits(const Digest& class_hash) const;
  void refuse_class(Member& member, const Digest& class_hash);
  void unpin_class();
  // pool_result.cc
  void on(Member& member, wire::LeaseResult& result);
  void on(Member& member, wire::EvalResult& result);
  template <class Other>
  void on(Member& member, Other& message);
  void late(Member& member, const wire::LeaseResult& result);
  void reject(Member& member, const std::string& why);
  void settle(Member& member, const LiveLease& lease, Duration compute_span, LeaseOutcome outcome);
  void credit(Member& member, StepRound& round, Subtree run,
              const std::vector<wire::BlockRow>& rows, double loss_sum);
  void end_lease(Member& member, const LiveLease& lease);
  void forget_copies(Step step, Subtree run);
  void forget_leases_if(const std::function<bool(const LiveLease&)>& over);

  // pool_lease.cc
  bool work_is_free() const;
  std::uint32_t slots_used() const;
  std::vector<Member*> crew(std::uint32_t wanted);
  Candidate candidate_for(const Member& member, Step step) const;
  std::vector<Candidate> candidates_for(Step step, const std::vector<Member*>& members) const;
  void let_pass(const Member& waiting);
  StepRound* round_of(Step step);
  Board& board_of(const LiveLease& lease);
  void grant(Member& member, Step step, Subtree run);
  LiveLease& book(Member& member, Step step, Subtree run);
  void bring_up(Member& member);
  void tell_update(Member& member, Step step);
  void bring_up_lone_workers();
  bool is_far_behind(const Member& member) const;
  void copy_overdue();
  void release_leases(Member& member, const char* why);
  void rest_if_idle();
  void say_waiting();

  // pool_onward.cc
  void learn_block(double span);
  bool has_all_hands() const;
  std::uint32_t steps_onward() const;
  bool may_go_on(const Member& member, const LiveLease& lease) const;
  void note_made(const LiveLease& lease);
  bool has_made(const Member& member, Step step) const;
  bool book_onward(const StepRound& round);
  const LiveLease* lease_for(const Member& member, const wire::LeaseResult& result) const;
  void ask_to_yield();
  void pass_over(LinkId link);
  void end_onward(const Member& member);
  void free_bookings(LeaseId from);
  void break_onward(const Member& member);
  void clear_up_onward();
  bool is_astray(const Member& member, const LiveLease& lease, const wire::LeaseResult& result);
  void went_astray(Member& member);

  // pool_ship.cc
  void on(Member& member, wire::WantSamples& want);
  void on(Member& member, wire::Fetch& fetch);
  bool may_be_sent_samples(Member& member);
  void carry(Member& member, Step step, Subtree run);

  // pool_step.cc
  void open_steps();
  void commit_if_complete();
  void commit();
  bool apply_commit(const CommitRecord& record, const CodedUpdate& coded);
  void choose_codecs(const CommitRecord& record);
  void change_crew();
  StepCosts step_costs() const;
  void compare_with_seen(const CommitRecord& record);
  void go_on();
  void begin_eval();
  void end_eval();
  bool measure_due(Duration step_span) const;
  void begin_measure();
  void end_measure();
  void finish(std::optional<Error> error);
  double usual_norm() const;

  void send(Member& member, wire::Message&& message);
  void send(Member& member, wire::SharedPacket packet);
  void note(Note::Weight weight, std::string event, std::string facts);
  void close_link(LinkId link, Error why);
  wire::StatusReport status() const;
  double epochs() const;
};

}  // namespace wide::engine
