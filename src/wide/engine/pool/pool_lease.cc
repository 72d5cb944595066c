// Who works on what: grants, copies of overdue leases, replicas brought up to the present.

#include <fmt/format.h>

#include <algorithm>

#include "wide/base/check.h"
#include "wide/engine/pool/hedge.h"
#include "wide/engine/pool/pool_run.h"

namespace wide::engine {

Board* Pool::Run::board() {
  if (phase_ == Phase::kTraining) return &round_->board();
  if (phase_ == Phase::kEvaluating) return &eval_->board();
  return nullptr;
}

void Pool::Run::hand_out() {
  Board* const work = board();
  if (work == nullptr || work->free_count() == 0) return;
  std::vector<Candidate> candidates;
  std::vector<Member*> members;
  for (auto& [link, member] : roster_.members()) {
    if (member.standing != Standing::kReady || (member.credits == 0 && member.leases.empty())) {
      continue;
    }
    candidates.push_back(member.candidate());
    members.push_back(&member);
  }
  if (candidates.empty()) return;

  // Samples that travel with a lease are bounded by its size.
  const Block forced = job_.samples.ship == Ship::kAlways ? 1 : options_.lease_blocks;
  GrantRules rules{forced, 1};
  if (phase_ == Phase::kTraining) rules.floor_count = sizer_.floor_count();
  while (const auto next = next_grant(*work, candidates, rules)) {
    Member& member = *members[next->candidate];
    grant(member, next->run);
    candidates[next->candidate] = member.candidate();
  }
}

void Pool::Run::grant(Member& member, Subtree run) {
  if (!started_at_) started_at_ = now_;
  if (leases_.size() == 0) {  // nobody was at work until now: that time is nobody's
    phase_since_ = now_;
    if (board()->done_count() == 0) step_started_at_ = now_;
  }
  bring_up(member);
  board()->take(run);
  LiveLease& lease = leases_.add(member.link, run, now_);
  lease.queued = member.leases.size() >= member.slots;
  member.leases.push_back(lease.id);
  --member.credits;
  member.granted_at = now_;
  if (job_.samples.ship == Ship::kAlways) carry(member, run);
  if (phase_ == Phase::kTraining) {
    send(member, wire::Lease{lease.id, round_->step(), replica_.step(), replica_.chain(), run.first,
                             run.count, static_cast<std::uint8_t>(round_->codec())});
  } else {
    send(member,
         wire::EvalLease{lease.id, replica_.step(), replica_.chain(), run.first, run.count});
  }
}

// Updates travel with the lease that needs them; a node that asks for nothing gets nothing.
void Pool::Run::bring_up(Member& member) {
  const Step present = replica_.step();
  if (member.holds == present) return;
  if (member.holds) {
    const Step from = *member.holds;
    // What the ring still has of the way is checked at the join; since then it may have moved on.
    if (ring_.covers(from)) {
      for (Step step = from; step < present; ++step) send(member, ring_.packet(step));
      member.holds = present;
      return;
    }
  }
  if (!snapshot_ || snapshot_step_ != present) {
    snapshot_ = std::make_shared<const wire::Packet>(wire::encode(replica_.snapshot(buffers_)));
    snapshot_step_ = present;
  }
  note(Note::Weight::kDetail, "snapshot sent",
       fmt::format("name={} step={}", member.name, present));
  send(member, snapshot_);
  member.holds = present;
}

void Pool::Run::copy_overdue() {
  Board* const work = board();
  if (work == nullptr || leases_.size() == 0) return;
  for (auto& [link, idle] : roster_.members()) {
    if (idle.standing != Standing::kReady || idle.credits == 0 || !idle.leases.empty()) continue;
    LiveLease* slowest = nullptr;
    Duration most{};
    for (auto& [id, lease] : leases_.live()) {
      if (lease.link == link || work->shared(lease.run)) continue;
      const Member* holder = roster_.find(lease.link);
      const auto after = hedge_after(holder->turnarounds, turnarounds_, lease.run.count);
      if (!after || now_ - lease.granted_at <= *after) continue;
      const Duration over = now_ - lease.granted_at - *after;
      if (slowest != nullptr && (over < most || (over == most && lease.id > slowest->id))) continue;
      slowest = &lease;
      most = over;
    }
    if (slowest == nullptr) return;
    const Subtree run = slowest->run;
    note(Note::Weight::kDetail, "lease copied",
         fmt::format("from={} to={} blocks={}+{} late_by_ms={}", roster_.find(slowest->link)->name,
                     idle.name, run.first, run.count, most.count() / 1000000));
    ++totals_.leases_hedged;
    grant(idle, run);
  }
}

void Pool::Run::release_leases(Member& member, const char* why) {
  if (member.leases.empty()) return;
  for (const LeaseId id : member.leases) {
    const LiveLease* lease = leases_.find(id);
    if (lease == nullptr) continue;
    WIDE_CHECK(board() != nullptr);
    board()->release(lease->run);
    ++totals_.leases_reissued;
    note(Note::Weight::kDetail, "lease freed",
         fmt::format("name={} blocks={}+{} reason={}", member.name, lease->run.first,
                     lease->run.count, why));
    leases_.remove(id);
  }
  member.leases.clear();
  rest_if_idle();
}

// Time counts as training while somebody holds a lease of a step.
void Pool::Run::rest_if_idle() {
  if (phase_ != Phase::kTraining || leases_.size() > 0) return;
  busy_ += now_ - phase_since_;
  phase_since_ = now_;
}

void Pool::Run::say_waiting() {
  if (phase_ == Phase::kFinished || said_waiting_ || roster_.ready_count() > 0) return;
  said_waiting_ = true;
  const bool coming = options_.nodes_coming && next_node_ == 1;
  note(coming ? Note::Weight::kDetail : Note::Weight::kNormal, "waiting for nodes",
       fmt::format("step={} nobody is here to work; the run goes on when a node joins",
                   replica_.step()));
}

}  // namespace wide::engine
