// Who works on what: grants, copies of overdue leases, replicas brought up to the present.

#include <fmt/format.h>

#include <algorithm>

#include "wide/base/check.h"
#include "wide/engine/pool/hedge.h"
#include "wide/engine/pool/pool_run.h"
#include "wide/engine/work_ahead.h"

namespace wide::engine {

StepRound* Pool::Run::round_of(Step step) {
  if (rounds_.empty() || step < rounds_.front().step() || step > rounds_.back().step()) {
    return nullptr;
  }
  return &rounds_[step - rounds_.front().step()];
}

// Of a lease that is out.
Board& Pool::Run::board_of(const LiveLease& lease) {
  return phase_ == Phase::kEvaluating ? eval_->board() : round_of(lease.step)->board();
}

void Pool::Run::hand_out() {
  if (held() || !work_is_free()) return;
  if (!has_all_hands()) ask_to_yield();
  bool doubts = false;
  for (const StepRound& round : rounds_) {
    book_onward(round);
    doubts = doubts || round.board().has_doubts();
  }
  if (!work_is_free()) return;
  // A second opinion is somebody else's.
  const std::uint32_t slots = doubts ? roster_.ready_slots() : slots_used();
  const std::vector<Member*> members = crew(slots);
  if (members.empty()) return;

  // Samples that travel with a lease are bounded by its size.
  const Block forced = job_.samples.ship == Ship::kAlways ? 1 : options_.lease_blocks;
  GrantRules rules{.forced_count = forced, .slots_coming = roster_.coming_slots()};
  // Open steps share a crew: each needs only its part to keep all of it busy.
  if (slots < roster_.ready_slots()) {
    rules.slots_most = std::max(1u, slots / (job_.delay + 1));
    rules.overlapping = job_.delay > 0 || has_all_hands();
  }
  const auto deal = [&](Step step, const Board& board) {
    if (board.free_count() == 0) return;
    std::vector<Candidate> candidates = candidates_for(step, members);
    Dealer dealer(board, candidates, rules);
    while (const auto next = dealer.next()) {
      Member& member = *members[next->candidate];
      grant(member, step, next->run);
      candidates[next->candidate] = candidate_for(member, step);
      dealer.granted(next->candidate);
    }
  };
  if (phase_ == Phase::kEvaluating) deal(eval_->step(), eval_->board());
  for (const StepRound& round : rounds_) {
    if (!book_onward(round)) deal(round.step(), round.board());
  }
  clear_up_onward();
}

// All of them, but for steps that few do faster. Who forces the size of leases has all at work.
std::uint32_t Pool::Run::slots_used() const {
  const std::uint32_t all = roster_.ready_slots();
  if (phase_ != Phase::kTraining || options_.lease_blocks != 0) return all;
  return has_all_hands() ? 1 : sizer_.slots_used(all);
}

// Everybody who asks for work, or so many that they have the slots wanted: the same ones for a
// while, so that their caches stay warm; then the next ones, so that all have their share. Who asks
// for nothing now is passed over: nobody waits for a node that hangs.
std::vector<Member*> Pool::Run::crew(std::uint32_t wanted) {
  const auto& all = roster_.at_work();
  if (wanted >= roster_.ready_slots()) return all;
  std::vector<Member*> chosen;
  std::uint32_t slots = 0;
  const auto first = std::ranges::lower_bound(all, crew_first_, {}, &Member::link) - all.begin();
  for (std::size_t i = 0; i < all.size() && slots < wanted; ++i) {
    Member* const member = all[(static_cast<std::size_t>(first) + i) % all.size()];
    if (member->credits == 0) continue;
    chosen.push_back(member);
    slots += member->slots;
  }
  if (!chosen.empty()) crew_last_ = chosen.back()->link;
  return chosen;
}

// What it has of this step already counts where somebody waits at the step's end. With a delay
// nobody does: there, who got more of one step gets less of the next, and fewer leases are better
// than even ones.
Candidate Pool::Run::candidate_for(const Member& member, Step step) const {
  Candidate candidate = member.candidate();
  for (const LeaseId id : member.leases) {
    const LiveLease* lease = leases_.find(id);
    if (lease == nullptr) continue;
    candidate.pieces_ahead += lease->run.count;
    if (job_.delay == 0 && lease->step == step) candidate.pieces_out += lease->run.count;
  }
  return candidate;
}

// A step that is promised to somebody who is free is for nobody else.
std::vector<Candidate> Pool::Run::candidates_for(Step step,
                                                 const std::vector<Member*>& members) const {
  std::vector<Candidate> candidates;
  for (const Member* member : members) candidates.push_back(candidate_for(*member, step));
  if (!promise_ || promise_->step != step) return candidates;
  const auto has_it = std::ranges::find(members, promise_->link, &Member::link);
  if (has_it == members.end() || !(*has_it)->leases.empty()) return candidates;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i]->link != promise_->link) candidates[i].credits = 0;
  }
  return candidates;
}

// With a delay, somebody has handed in a step and can begin no other until an older one is done,
// whose node is slower. That one would work ahead on the first of the next steps, be waited for
// again, and every step would take as long as the slowest takes. So it is asked not to: who waits
// gets the first, and can work ahead of it itself while the slower one is at the second.
//
//   fast  ▇ 1 ▇▇ 3 ▇·······▇ 4 ▇▇ 6 ▇·······      two steps in the time of one
//   slow  ▇▇▇▇▇▇ 2 ▇▇▇▇▇▇▇▇▇▇▇▇▇ 5 ▇▇▇▇▇▇▇▇
void Pool::Run::let_pass(const Member& waiting) {
  constexpr double kWorthIt = 1.0 / 16;  // of a step; the slower one waits for our answer this once
  if (job_.delay == 0 || phase_ != Phase::kTraining || !waiting.leases.empty()) return;
  // Who waits helps the slower one; or there is no crew, and there are no whole steps.
  if (has_all_hands() || slots_used() == roster_.ready_slots()) return;
  const StepRound& oldest = rounds_.front();
  const Block count = job_.blocks_per_step();
  const auto lease = std::ranges::find_if(leases_.live(), [&](const auto& entry) {
    return entry.second.step == oldest.step() && entry.second.run.count == count;
  });
  const Step next = rounds_.back().step() + 1;
  if (lease == leases_.live().end() || !may_be_open(job_, space_, next, oldest.step() + 1)) return;
  Member& slower = *roster_.find(lease->second.link);
  const double left = slower.piece_seconds * count - seconds(now_ - lease->second.granted_at);
  if (left < kWorthIt * waiting.piece_seconds * count) return;
  promise_ = Promise{next, waiting.link};
  if (may_work_ahead(job_, layout_)) send(slower, wire::Yield{next});
}

bool Pool::Run::work_is_free() const {
  if (phase_ == Phase::kEvaluating) return eval_->board().free_count() > 0;
  return phase_ == Phase::kTraining && std::ranges::any_of(rounds_, [](const StepRound& round) {
           return round.board().free_count() > 0;
         });
}

void Pool::Run::grant(Member& member, Step step, Subtree run) {
  bring_up(member);
  break_onward(member);
  LiveLease& lease = book(member, step, run);
  --member.credits;
  if (job_.samples.ship == Ship::kAlways) carry(member, step, run);
  if (phase_ == Phase::kTraining) {
    const StepRound& round = *round_of(step);
    const std::uint32_t onward = may_go_on(member, lease) ? steps_onward() : 0;
    lease.goes_on = onward > 0;
    if (onward > 0) onward_ = Onward{member.link, lease.id, onward, step + 1, {}, 0, 0};
    send(member, wire::Lease{lease.id, step, round.base(), round.base_chain(), run.first, run.count,
                             static_cast<std::uint8_t>(round.codec()), onward});
  } else {
    send(member,
         wire::EvalLease{lease.id, replica_.step(), replica_.chain(), run.first, run.count});
  }
}

LiveLease& Pool::Run::book(Member& member, Step step, Subtree run) {
  const bool first = leases_.size() == 0;
  LiveLease& lease = leases_.add(member.link, step, run, now_);
  Board& board = board_of(lease);
  if (!started_at_) started_at_ = now_;
  if (first) {  // nobody was at work until now: that time is nobody's
    phase_since_ = now_;
    if (board.done_count() == 0) step_started_at_ = now_;
  }
  board.take(run);
  lease.queued = member.leases.size() >= member.slots;
  member.leases.push_back(lease.id);
  member.granted_at = now_;
  return lease;
}

// Updates travel with the lease that needs them; a node that asks for nothing gets nothing.
void Pool::Run::bring_up(Member& member) {
  const Step present = replica_.step();
  if (member.holds == present) return;
  if (member.holds) {
    const Step from = *member.holds;
    // What the ring still has of the way is checked at the join; since then it may have moved on.
    if (ring_.covers(from) && !is_far_behind(member)) {
      for (Step step = from; step < present; ++step) tell_update(member, step);
      member.holds = present;
      return;
    }
  }
  const FrozenReplica oldest = footprint().replica;
  if (!snapshot_) {
    snapshot_ = std::make_shared<const wire::Packet>(wire::encode(snapshot_of(oldest, buffers_)));
  }
  note(Note::Weight::kDetail, "snapshot sent",
       fmt::format("name={} step={}", member.name, oldest.step));
  send(member, snapshot_);
  for (Step step = oldest.step; step < present; ++step) send(member, ring_.packet(step));
  member.holds = present;
}

// Whoever has made it, and goes on from it, need not be told what it is.
void Pool::Run::tell_update(Member& member, Step step) {
  if (!has_made(member, step)) return send(member, ring_.packet(step));
  const bool is_last = step + 1 == replica_.step();
  send(member, wire::Committed{step, is_last ? replica_.chain() : ring_.chain(step + 1)});
}

// Who computes a whole step alone can go on from it before we answer, if it knows the steps before.
void Pool::Run::bring_up_lone_workers() {
  if (!may_be_foreseen(job_)) return;
  for (const auto& [id, lease] : leases_.live()) {
    const bool alone = job_.delay > 0 && may_work_ahead(job_, layout_) &&
                       lease.run.count == job_.blocks_per_step();
    if (alone || lease.onward_of.value > 0) bring_up(*roster_.find(lease.link));
  }
}

// So far that a snapshot is less to send and to apply than the updates. It takes the place of all
// weights that a node has: none of its leases may need them, and it must not lead back.
bool Pool::Run::is_far_behind(const Member& member) const {
  constexpr std::uint64_t kSnapshotCost = 4;  // it is copied and hashed at both ends
  const Step step = *member.holds;
  if (!member.leases.empty() || step >= job_.base_of(replica_.step())) return false;
  const std::uint64_t updates_bytes =
      (replica_.step() - step) * wire::body_bytes(*ring_.packet(step));
  return updates_bytes > kSnapshotCost * state_count(job_, layout_) * sizeof(float);
}

void Pool::Run::copy_overdue() {
  if (leases_.size() == 0 || held()) return;
  for (Member* const idle : roster_.at_work()) {
    if (idle->credits == 0 || !idle->leases.empty()) continue;
    LiveLease* slowest = nullptr;
    Duration most{};
    for (auto& [id, lease] : leases_.live()) {
      if (lease.link == idle->link || board_of(lease).shared(lease.run)) continue;
      const Member* holder = roster_.find(lease.link);
      const auto after = hedge_after(holder->turnarounds, turnarounds_, lease.run.count);
      if (!after || now_ - lease.granted_at <= *after) continue;
      const Duration over = now_ - lease.granted_at - *after;
      if (slowest != nullptr && (over < most || (over == most && lease.id > slowest->id))) continue;
      slowest = &lease;
      most = over;
    }
    if (slowest == nullptr) break;
    const Step step = slowest->step;
    const Subtree run = slowest->run;
    note(Note::Weight::kDetail, "lease copied",
         fmt::format("from={} to={} blocks={}+{} late_by_ms={}", roster_.find(slowest->link)->name,
                     idle->name, run.first, run.count, most.count() / 1000000));
    ++totals_.leases_hedged;
    pass_over(slowest->link);
    grant(*idle, step, run);
  }
  clear_up_onward();
}

void Pool::Run::release_leases(Member& member, const char* why) {
  if (onward_ && onward_->link == member.link) onward_.reset();
  if (member.leases.empty()) return;
  for (const LeaseId id : member.leases) {
    const LiveLease* lease = leases_.find(id);
    if (lease == nullptr) continue;
    board_of(*lease).release(lease->run);
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
