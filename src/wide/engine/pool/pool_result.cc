// What counts: results are checked against the lease they answer, late ones are compared and
// dropped, wrong ones refused.

#include <fmt/format.h>

#include <algorithm>

#include "wide/engine/pool/pool_run.h"

namespace wide::engine {

namespace {

constexpr std::uint32_t kRefusedInARowMax = 3;

// Why this result cannot be the answer to that lease; empty: it can.
std::string misfit(const wire::LeaseResult& result, const LiveLease& lease,
                   const StepRound& round) {
  if (result.step != round.step()) {
    return fmt::format("step {}, expected {}", result.step, round.step());
  }
  if (result.sum.codec != 0 && result.sum.codec != static_cast<std::uint8_t>(round.codec())) {
    return fmt::format("codec {}, which is not this step's", result.sum.codec);
  }
  if (result.first_block != lease.run.first) {
    return fmt::format("block {}, expected {}", result.first_block, lease.run.first);
  }
  if (result.rows.size() != lease.run.count) {
    return fmt::format("{} blocks, expected {}", result.rows.size(), lease.run.count);
  }
  if (result.base_chain != round.base_chain()) return "computed on another replica";
  return "";
}

}  // namespace

void Pool::Run::on(Member& member, wire::LeaseResult& result) {
  if (member.standing != Standing::kReady) {
    refuse(member, Errc::kUnexpectedMessage, "a result from a node that is not ready");
    return;
  }
  member.times = result.times;
  give_credit(member, result.want);
  const LiveLease* lease = lease_for(member, result);
  if (lease == nullptr || phase_ != Phase::kTraining) {
    // It will not send this again, and goes on from it. Older ones are merely late.
    const bool goes_on_from_it = onward_ && onward_->lease == result.lease;
    if (goes_on_from_it && result.step >= replica_.step()) end_onward(member);
    if (!result.rows.empty() && leases_.was_granted(result.lease)) {
      late(member, result);
      hand_out();
    } else {
      // It has lost count of what it was given: what that was may never be answered.
      release_leases(member, "answers what it was never given");
      reject(member, fmt::format("lease {} was never granted", result.lease.value));
    }
    return;
  }
  StepRound& round = *round_of(lease->step);
  if (is_astray(member, *lease, result)) {
    went_astray(member);
    return;
  }
  std::string wrong = misfit(result, *lease, round);
  const auto compute_ns = result.compute_ns;
  auto outcome = wrong.empty() ? open_result(std::move(result), layout_, buffers_)
                               : Result<LeaseOutcome>(tl::unexpect, Error{});
  if (!outcome && wrong.empty()) wrong = describe(outcome.error());
  if (!wrong.empty()) {
    round.board().release(lease->run);
    ++totals_.leases_reissued;
    end_lease(member, *lease);
    reject(member, wrong);
    return;
  }
  settle(member, LiveLease(*lease), Duration(compute_ns), std::move(*outcome));
}

void Pool::Run::settle(Member& member, const LiveLease& lease, Duration compute_span,
                       LeaseOutcome outcome) {
  const Subtree run = lease.run;
  StepRound& round = *round_of(lease.step);
  const double loss_sum = outcome.value.loss_sum;
  const bool shared = round.board().shared(run);
  const LinkId link = member.link;
  const Duration turnaround = now_ - lease.granted_at;
  member.learn(turnaround, std::min(compute_span, turnaround), run.count, lease.queued);
  turnarounds_.add(turnaround / run.count);
  learn_block(seconds(compute_span) / run.count);
  end_lease(member, lease);
  const auto rows = outcome.rows;
  const Verdict verdict = round.offer(run, member.node, member.class_hash, std::move(outcome));

  if (verdict == Verdict::kAccepted) {
    credit(member, round, run, rows, loss_sum);
    member.refused_in_a_row = 0;
    note_made(lease);
    classes_.insert(member.class_hash);
    if (shared) forget_copies(lease.step, run);
    commit_if_complete();
  } else if (verdict == Verdict::kAgain) {
    end_onward(member);
    note(Note::Weight::kWarning, "result doubted",
         fmt::format("name={} step={} blocks={}+{} it is computed again", member.name, round.step(),
                     run.first, run.count));
  } else {
    const std::uint32_t unit = run.first * job_.train.block_units;
    const char* why = verdict == Verdict::kDiverged
                          ? "the gradient is not finite, and a second computation agreed"
                          : "no two computations of its gradient agree";
    finish(Error{Errc::kDiverged, fmt::format("step {} unit {}: {}", round.step(), unit, why)});
    return;
  }
  if (phase_ == Phase::kFinished || roster_.find(link) == nullptr) return;
  hand_out();
  let_pass(member);
}

// To each who computed some of it, as the one says who handed it in: they are of one machine. Whose
// losses are whose it does not say, so they are dealt out by units.
void Pool::Run::credit(Member& member, StepRound& round, Subtree run,
                       const std::vector<wire::BlockRow>& rows, double loss_sum) {
  const auto units_of = [&](Block block) {
    const auto first = block * job_.train.block_units;
    return std::min(job_.train.block_units, job_.train.units_per_step - first);
  };
  std::map<Member*, std::uint64_t> units;
  std::uint64_t all = 0;
  for (Block i = 0; i < run.count; ++i) {
    Member* const helper = rows[i].helper > 0 ? roster_.at_seat(rows[i].helper) : nullptr;
    if (helper != nullptr) round.made_by(run.first + i, helper->node);
    units[helper != nullptr ? helper : &member] += units_of(run.first + i);
    all += units_of(run.first + i);
  }
  for (const auto& [maker, count] : units) {
    const double loss = loss_sum * static_cast<double>(count) / static_cast<double>(all);
    maker->units += count;
    maker->loss_sum += loss;
    round.credit({maker->node, maker->name, maker->class_hash, maker->slots, count, loss});
  }
}

void Pool::Run::end_lease(Member& member, const LiveLease& lease) {
  const LeaseId id = lease.id;  // `lease` may lie in the book
  std::erase(member.leases, id);
  leases_.remove(id);
  rest_if_idle();
}

// The run is done: whoever else works on it will be late.
void Pool::Run::forget_copies(Step step, Subtree run) {
  forget_leases_if([&](const LiveLease& lease) {
    const bool moot =
        lease.step == step && lease.run.first < run.end() && run.first < lease.run.end();
    if (moot) board_of(lease).release(lease.run);  // parts of it that are not done, if any
    return moot;
  });
}

void Pool::Run::forget_leases_if(const std::function<bool(const LiveLease&)>& over) {
  std::erase_if(leases_.live(), [&](const auto& entry) {
    const LiveLease& lease = entry.second;
    if (!over(lease)) return false;
    if (Member* member = roster_.find(lease.link)) std::erase(member->leases, lease.id);
    return true;
  });
}

void Pool::Run::late(Member& member, const wire::LeaseResult& result) {
  ++totals_.shares_late;
  const StepRound* accepted = round_of(result.step);
  if (previous_round_ && previous_round_->step() == result.step) accepted = &*previous_round_;
  const char* compared = "not compared";
  const bool same_work = accepted != nullptr && accepted->base_chain() == result.base_chain;
  if (same_work && classes_.size() == 1 && classes_.contains(member.class_hash)) {
    const bool equal = accepted->agrees(result);
    ++(equal ? totals_.audits_equal : totals_.audits_different);
    compared = equal ? "equal" : "different";
  }
  note(Note::Weight::kDetail, "late result dropped",
       fmt::format("name={} step={} block={} {}", member.name, result.step, result.first_block,
                   compared));
}

void Pool::Run::reject(Member& member, const std::string& why) {
  end_onward(member);
  ++member.rejected;
  ++totals_.shares_rejected;
  note(Note::Weight::kWarning, "result refused",
       fmt::format("name={} reason={}", member.name, why));
  if (++member.refused_in_a_row >= kRefusedInARowMax) {
    refuse(member, Errc::kBadResult,
           fmt::format("{} wrong results in a row, the last: {}", kRefusedInARowMax, why));
  }
  hand_out();
}

void Pool::Run::on(Member& member, wire::EvalResult& result) {
  if (member.standing != Standing::kReady) {
    refuse(member, Errc::kUnexpectedMessage, "a result from a node that is not ready");
    return;
  }
  give_credit(member, result.want);
  const LiveLease* lease = leases_.find(result.lease);
  if (lease == nullptr || lease->link != member.link || phase_ != Phase::kEvaluating) {
    ++totals_.shares_late;
    hand_out();
    return;
  }
  const Subtree run = lease->run;
  const bool fits = result.base == eval_->step() && result.base_chain == replica_.chain() &&
                    result.first_unit == run.first && result.rows.size() == run.count;
  const bool shared = eval_->board().shared(run);
  if (!fits) eval_->board().release(run);
  end_lease(member, *lease);
  if (!fits) {
    reject(member, "an evaluation that does not answer its lease");
    return;
  }
  eval_->accept(run, result.rows);
  if (shared) forget_copies(eval_->step(), run);
  if (eval_->complete()) end_eval();
  if (phase_ != Phase::kFinished) hand_out();
}

}  // namespace wide::engine
