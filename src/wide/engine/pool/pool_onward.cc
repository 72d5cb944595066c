// Who goes on from step to step unasked: where nodes of one machine help each other, one of them
// holds whole steps, one after another. It is booked for each that opens, without a word, and hands
// in their results by the bunch. Whatever does not fit ends that: then somebody is asked again.

#include <algorithm>
#include <utility>

#include "wide/engine/pool/pool_run.h"
#include "wide/engine/work_ahead.h"

namespace wide::engine {

namespace {
// A node that helps reads nothing else meanwhile. Over this everybody has a part of each step.
constexpr double kHelpedBlockSecondsMax = 0.1;
// A commit takes longer than a brief step.
constexpr double kBriefStepSeconds = 0.02;
}  // namespace

// One hiccup of the machine changes little.
void Pool::Run::learn_block(double span) {
  const double known = block_seconds_ > 0 ? block_seconds_ : span;
  block_seconds_ = known + (std::min(span, 4 * known) - known) / 8;
}

// Whoever has a step is helped by all others.
bool Pool::Run::has_all_hands() const {
  return helped_ && block_seconds_ > 0 && block_seconds_ < kHelpedBlockSecondsMax;
}

// How far whoever goes on may be ahead of what it has been told.
std::uint32_t Pool::Run::steps_onward() const {
  const bool brief = block_seconds_ * job_.blocks_per_step() < kBriefStepSeconds;
  return brief && may_work_ahead(job_, layout_) ? kStepsOnward : kLongStepsOnward;
}

bool Pool::Run::may_go_on(const Member& member, const LiveLease& lease) const {
  return has_all_hands() && !onward_ && member.slots == 1 && member.leases.size() == 1 &&
         lease.run.count == job_.blocks_per_step() && slots_used() < roster_.ready_slots();
}

// Its result was accepted. Its first step may be a copy, and those behind it may have been done by
// others before it began: only what it has handed in is its own.
void Pool::Run::note_made(const LiveLease& lease) {
  if (!onward_ || (lease.id != onward_->lease && lease.onward_of != onward_->lease)) return;
  if (lease.step != onward_->made_end) onward_->made_from = lease.step;
  onward_->made_end = lease.step + 1;
}

bool Pool::Run::has_made(const Member& member, Step step) const {
  return onward_ && onward_->link == member.link && step >= onward_->made_from &&
         step < onward_->made_end;
}

// It is at this step already, or will be before it could be told.
bool Pool::Run::book_onward(const StepRound& round) {
  if (!onward_ || phase_ != Phase::kTraining || round.step() != onward_->next) return false;
  const bool all_free = round.board().free_count() == job_.blocks_per_step();
  if (!all_free || onward_->end == round.step()) {
    onward_.reset();
    return false;
  }
  book(*roster_.find(onward_->link), round.step(), {0, job_.blocks_per_step()}).onward_of =
      onward_->lease;
  ++onward_->next;
  return true;
}

// Others come next: behind the last step that it can have begun by what it has been told.
void Pool::Run::ask_to_yield() {
  if (!onward_ || onward_->end) return;
  onward_->end = replica_.step() + job_.delay + onward_->ahead_most + 1;
  send(*roster_.find(onward_->link), wire::Yield{*onward_->end});
}

// It is late with a step: it keeps what it is booked for, and the next one comes first.
void Pool::Run::pass_over(LinkId link) {
  if (!onward_ || onward_->link != link) return;
  onward_.reset();
  crew_first_ = LinkId{link.value + 1};
}

// It is not known to go on any more: what it was booked for is free, and what comes of it is late.
void Pool::Run::end_onward(const Member& member) {
  if (!onward_ || onward_->link != member.link) return;
  free_bookings(std::exchange(onward_, std::nullopt)->lease);
}

// Of whoever went on from this lease.
void Pool::Run::free_bookings(LeaseId from) {
  forget_leases_if([&](const LiveLease& lease) {
    if (lease.onward_of != from) return false;
    board_of(lease).release(lease.run);
    return true;
  });
  rest_if_idle();
}

// Another lease ends it at the node. Its bookings are freed once all that is free now is dealt.
void Pool::Run::break_onward(const Member& member) {
  if (onward_ && onward_->link == member.link) {
    broken_onward_ = std::exchange(onward_, std::nullopt)->lease;
  }
}

void Pool::Run::clear_up_onward() {
  if (!broken_onward_) return;
  free_bookings(*std::exchange(broken_onward_, std::nullopt));
  hand_out();
}

// From other weights than what it is booked for; or out of turn: with a delay several steps have
// the same weights, so only their order shows that one is taken for another.
bool Pool::Run::is_astray(const Member& member, const LiveLease& lease,
                          const wire::LeaseResult& result) {
  if (lease.onward_of.value > 0 && result.base_chain != round_of(lease.step)->base_chain()) {
    return true;
  }
  return std::ranges::any_of(member.leases, [&](const LeaseId id) {
    const LiveLease* other = leases_.find(id);
    if (other == nullptr || other->step >= result.step) return false;
    const bool comes_first =
        (other->goes_on && id == result.lease) || other->onward_of == result.lease;
    return comes_first && result.step - other->step <= job_.delay + kStepsOnward;
  });
}

// It went on from a result of its own that is not the one which counts: nobody's fault, and no use.
void Pool::Run::went_astray(Member& member) {
  release_leases(member, "went on from another result");
  hand_out();
}

// It may have gone on to this step from the lease that it names.
const LiveLease* Pool::Run::lease_for(const Member& member, const wire::LeaseResult& result) const {
  const LiveLease* named = nullptr;
  for (const LeaseId id : member.leases) {
    const LiveLease* lease = leases_.find(id);
    if (lease == nullptr) continue;
    const bool onward = lease->onward_of.value > 0 && lease->onward_of == result.lease;
    if (onward && lease->step == result.step) return lease;
    if (id == result.lease) named = lease;
  }
  return named;
}

}  // namespace wide::engine
