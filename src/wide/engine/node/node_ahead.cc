// How a node goes on where nobody has asked it yet: from a whole step to the one that it will be
// asked for if nothing changes (work_ahead), or, where its lease allows it, from step to step
// (go_on).

#include <algorithm>
#include <cmath>
#include <utility>

#include "wide/base/check.h"
#include "wide/engine/node/node.h"
#include "wide/engine/optimizer.h"
#include "wide/engine/work_ahead.h"

namespace wide::engine {

namespace {
// Results of steps that follow each other wait for so long to be handed in together.
constexpr Duration kBunch = std::chrono::milliseconds(2);
constexpr unsigned kAheadWrongMost = 6;
// Longer ones are not waited for by what comes instead: another lease, an evaluation, the end.
constexpr Duration kAheadSpanMax = std::chrono::seconds(1);
}  // namespace

void Node::work_ahead() {
  if (!whole_ || whole_->step != replica_->step() || busy_slots_ > 0 || !queue_.empty()) return;
  const Step step = whole_->step + 1 + job_->delay;
  const auto* done = kept_.find(*std::exchange(whole_, std::nullopt));
  if (done == nullptr || done->compute_span > kAheadSpanMax || !may_come(step)) return;
  if (step == left_to_others_) return;
  if (ahead_skips_ > 0) {
    --ahead_skips_;
    return;
  }
  replica_->forget_foreseen();
  const auto update = update_by(done->outcome);
  if (!update) return;
  wire::Lease lease;
  lease.step = step;
  const TaskId task = begin_unasked(lease, replica_->foresee(*update));
  ahead_ = WorkKey::of(std::get<wire::Lease>(busy_.extract(task).mapped()));
  orphans_.emplace(task, *ahead_);
}

// The whole of a step that nobody has asked for.
TaskId Node::begin_unasked(wire::Lease lease, const Weights& base) {
  lease.base = base->step;
  lease.base_chain = base->chain;
  lease.block_count = job_->blocks_per_step();
  account_wait();
  ++busy_slots_;
  const TaskId task{next_task_++};
  busy_.emplace(task, lease);
  effects_->push_back(Compute{task, lease, base});
  return task;
}

// From one step to the next, as the pool has said that we may. With a delay the next one waits
// behind the one at hand: whoever helps with that can begin before it is over.
void Node::go_on() {
  const std::size_t tasks_most = job_->delay > 0 ? 2 : 1;
  foresee_whole_steps();
  while (onward_ && queue_.empty() && busy_slots_ < tasks_most) {
    const Step step = next_onward_;
    const Step known = replica_->step() + job_->delay;
    if (step > known + std::min(onward_->steps_onward, kStepsOnward)) return;
    if (step == left_to_others_ || !may_follow(*job_, *space_, step)) return;
    const Weights base = replica_->foreseen_at(job_->base_of(step));
    if (base == nullptr) return;
    wire::Lease lease;
    lease.lease = onward_->lease;
    lease.step = step;
    unasked_.insert(begin_unasked(lease, base));
    ++next_onward_;
  }
}

void Node::foresee_whole_steps() {
  for (;;) {
    const Step step = replica_->foremost()->step;
    const Weights base = replica_->foreseen_at(job_->base_of(step));
    if (base == nullptr) return;
    const auto* done = kept_.find({step, base->chain, 0, job_->blocks_per_step()});
    if (done == nullptr) return;
    const auto update = update_by(done->outcome);
    if (!update) return onward_.reset();
    replica_->foresee(*update);
  }
}

// What the pool will send when it has committed the step behind all that is foreseen. Nothing where
// the sum is not finite: the pool will ask again.
std::optional<StepUpdate> Node::update_by(const LeaseOutcome& whole_step) {
  const WeightsVersion& before = *replica_->foremost();
  StepUpdate update;
  update.step = before.step;
  update.values = take_floats(buffers_, layout_->value_count());
  std::ranges::copy(whole_step.value.sum.values, update.values.values.begin());
  divide_root(*job_, layout_->parameter_count, update.values.values);
  update.scalars = step_scalars(job_->train, update.step, job_->step_count(space_->train_count),
                                update.values.values.first(layout_->parameter_count));
  update.chain_after = chain_next(before.chain, update.step, update.scalars, update.values);
  if (!std::isfinite(gradient_norm(update.values.values))) return std::nullopt;
  return update;
}

// Will somebody be asked to compute this step next, for all that is known here?
bool Node::may_come(Step step) const {
  if (options_.slots != 1 || !may_work_ahead(*job_, *layout_)) return false;
  const Step committed = job_->base_of(step);
  const std::uint64_t every = steps_between_evals(*job_, *space_);
  const bool eval_comes_first = every > 0 && committed % every == 0;
  return !eval_comes_first && may_be_open(*job_, *space_, step, committed);
}

// Where it was in vain, the next chances are let pass: one, three, … 63.
void Node::ahead_was(bool right) {
  ahead_.reset();
  ahead_wrong_ = right ? 0 : std::min(ahead_wrong_ + 1, kAheadWrongMost);
  ahead_skips_ = (1u << ahead_wrong_) - 1;
}

bool Node::may_wait() {
  const bool more_comes =
      brief_step_ && !busy_.empty() && (!unasked_.empty() || more_of_its_step_comes());
  if (!more_comes) {
    waits_since_.reset();
  } else if (!waits_since_) {
    waits_since_ = now_;
  } else if (now_ - *waits_since_ >= kBunch) {
    waits_since_.reset();
    return false;
  }
  return more_comes;
}

bool Node::more_of_its_step_comes() const {
  const auto* next = std::get_if<wire::Lease>(&busy_.begin()->second);
  return options_.slots == 1 && next != nullptr && next->step == *brief_step_;
}

}  // namespace wide::engine
