// How the run goes on: steps, evaluations, measuring, the end.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "wide/base/check.h"
#include "wide/base/median.h"
#include "wide/engine/lease_work.h"
#include "wide/engine/pool/pool_run.h"
#include "wide/engine/work_ahead.h"

namespace wide::engine {

namespace {
constexpr std::size_t kNormsKept = 32;
constexpr std::size_t kNormsEnough = 8;
// Whoever comes in finds its caches cold, which costs some milliseconds. At first all have a brief
// turn, so that in a short run, too, everyone takes part.
constexpr Duration kCrewSpan = std::chrono::milliseconds(500);
constexpr Duration kFirstCrewSpan = std::chrono::milliseconds(20);
constexpr Duration kMeasureSpanLeast = std::chrono::seconds(1);  // where there is one turn alone
constexpr Duration kMeasureTurn = std::chrono::milliseconds(500);
constexpr int kMeasurePart = 4;  // in a long run: whenever it is longer by a quarter
}  // namespace

double Pool::Run::usual_norm() const {
  if (norms_.size() < kNormsEnough) return 0;
  return median({norms_.begin(), norms_.end()});
}

// As many as the delay allows.
void Pool::Run::open_steps() {
  phase_ = Phase::kTraining;
  step_started_at_ = now_;
  Step next = rounds_.empty() ? replica_.step() : rounds_.back().step() + 1;
  for (; may_be_open(job_, space_, next, replica_.step()); ++next) {
    const Weights base = replica_.weights_at(job_.base_of(next));
    WIDE_CHECK(base != nullptr, "what an open step is computed on is here");
    rounds_.emplace_back(job_, layout_, next, base->chain, codecs_.pair().gradient, usual_norm(),
                         buffers_);
  }
}

// Only between steps: all blocks of one are coded alike.
void Pool::Run::choose_codecs(const CommitRecord& record) {
  if (!job_.codec.automatic()) return;
  const auto mean = record.update.values.first(layout_.parameter_count);
  const auto decision = codecs_.decide(record.step, mean, step_costs());
  if (!decision) return;
  note(Note::Weight::kNormal, "codecs chosen",
       fmt::format("step={} gradient={} update={} reason={}", replica_.step(),
                   codec::lossy_name(decision->pair.gradient),
                   codec::lossy_name(decision->pair.update), decision->reason));
}

// Of the nodes at work, each with its part of the blocks.
StepCosts Pool::Run::step_costs() const {
  StepCosts costs;
  double nodes = 0;
  double slots = 0;
  for (const auto& [link, member] : roster_.members()) {
    if (!member.took_part()) continue;
    costs.compute_seconds += member.piece_seconds;
    costs.lag_seconds += member.lag_seconds;
    ++nodes;
    slots += member.slots;
  }
  if (slots == 0) return {};
  const double blocks_each = std::max(1.0, double(job_.blocks_per_step()) / slots);
  return {costs.compute_seconds / nodes * blocks_each, costs.lag_seconds / nodes};
}

void Pool::Run::commit_if_complete() {
  if (phase_ == Phase::kTraining && !pending_ && rounds_.front().complete()) commit();
}

void Pool::Run::commit() {
  StepRound& round = rounds_.front();
  CommitRecord record = round.close();
  if (!std::isfinite(gradient_norm(record.update.values))) {
    finish(
        Error{Errc::kDiverged,
              fmt::format("step {}: its gradients are finite, but their sum is not", record.step)});
    return;
  }
  norms_.push_back(round.mean_block_norm());
  if (norms_.size() > kNormsKept) norms_.pop_front();
  const std::uint32_t slots = roster_.ready_slots();
  if (!has_all_hands() && sizer_.learn(now_ - step_started_at_, slots)) {
    note(Note::Weight::kDetail, "crew changed",
         fmt::format("step={} slots={} of={}", record.step, sizer_.slots_used(slots), slots));
  }
  busy_ += now_ - phase_since_;
  phase_since_ = now_;

  record.update_codec = static_cast<std::uint8_t>(codecs_.pair().update);
  lead_.begin(record, step_count_);
  pending_update_ = lead_.code(record);
  lead_.finish(record, pending_update_);
  record.seconds = seconds(busy_);
  forget_leases_if([&](const LiveLease& lease) { return lease.step == record.step; });

  // The record goes to the ledger before anyone, this replica included, moves on.
  held_by_.clear();
  pending_ = record;
  effects_->push_back(Append{std::move(record)});
}

void Pool::Run::appended() {
  if (!pending_) return;  // stopped meanwhile: the ledger is a step ahead
  const CommitRecord record = std::move(*pending_);
  pending_.reset();
  WIDE_CHECK(apply_commit(record, std::exchange(pending_update_, {})),
             "a committed update fits the pool's replica");
  rate_.add(job_.samples_per_step(), now_);
  previous_round_.emplace(std::move(rounds_.front()));
  rounds_.pop_front();
  compare_with_seen(record);
  choose_codecs(record);
  change_crew();
  // Writing a step down is part of training; waiting for a disk that takes nothing is not.
  if (held_by_.empty()) busy_ += now_ - phase_since_;
  phase_since_ = now_;
  go_on();
  commit_if_complete();
  hand_out();
  bring_up_lone_workers();
}

bool Pool::Run::apply_commit(const CommitRecord& record, const CodedUpdate& coded) {
  const std::uint64_t chain = replica_.chain();
  const auto before = job_.delay > 0 ? lead_.freeze() : FrozenReplica();
  if (!lead_.advance(record, coded)) return false;
  if (job_.delay > 0) trail_.push_back({before, past_});
  if (trail_.size() > job_.delay) trail_.pop_front();
  past_.add(record, job_);
  wire::Update update{record.step, record.chain_after, record.scalars, coded.sent};
  ring_.push(record.step, chain,
             std::make_shared<const wire::Packet>(wire::encode(std::move(update))));
  snapshot_.reset();
  return true;
}

// Now and then: see crew().
void Pool::Run::change_crew() {
  const bool first_turns = slots_had_turns_ < roster_.ready_slots();
  if (now_ - crew_since_ < (first_turns ? kFirstCrewSpan : kCrewSpan)) return;
  if (first_turns) slots_had_turns_ += slots_used();
  crew_since_ = now_;
  crew_first_ = LinkId{crew_last_.value + 1};
  if (roster_.ready_count() > 1) ask_to_yield();
}

// After a power cut steps may be computed again that nodes have seen before.
void Pool::Run::compare_with_seen(const CommitRecord& record) {
  const auto seen = seen_ahead_.find(record.step + 1);
  if (seen == seen_ahead_.end()) return;
  const bool equal = seen->second == record.chain_after;
  ++(equal ? totals_.recomputed_equal : totals_.recomputed_different);
  note(equal ? Note::Weight::kNormal : Note::Weight::kWarning, "step recomputed",
       fmt::format("step={} {} what a node had seen before the pool went down", record.step,
                   equal ? "equals" : "DIFFERS FROM"));
  seen_ahead_.erase(seen_ahead_.begin(), std::next(seen));
}

bool Pool::Run::ended() const {
  return past_.stopped || (step_count_ > 0 && replica_.step() >= step_count_);
}

bool Pool::Run::steps_done() const {
  return ended() || (step_count_ == 0 && seconds(busy_) >= job_.train.seconds);
}

// At the boundary where we stand, and not done yet.
bool Pool::Run::eval_due() const {
  const Step step = replica_.step();
  const bool known = past_.eval && past_.eval->step == step;
  const bool due = job_.eval.every > 0 && step > 0 && step % job_.eval.every == 0;
  return space_.eval_count > 0 && !known && (due || steps_done());
}

// At a step boundary: evaluate, end, or begin the next step.
void Pool::Run::go_on() {
  const Step step = replica_.step();
  const bool done = steps_done();
  if (done && step_count_ == 0 && !past_.stopped) {
    past_.stopped = true;
    effects_->push_back(Append{StopRecord{step, past_.seconds}});
  }
  if (done) {  // by time: what was begun ahead is dropped
    rounds_.clear();
    forget_leases_if([](const LiveLease&) { return true; });
  }
  if (eval_due()) {
    last_eval_done_ = done;
    begin_eval();
  } else if (done) {
    begin_measure();
  } else if (measure_due(now_ - step_started_at_)) {
    step_started_at_ = now_;
    if (rounds_.empty()) begin_measure();  // else what is open comes to its end first
  } else {
    open_steps();
  }
}

void Pool::Run::begin_eval() {
  WIDE_CHECK(rounds_.empty());
  onward_.reset();
  phase_ = Phase::kEvaluating;
  eval_.emplace(replica_.step(), eval_unit_count(job_, space_), space_.eval_count);
}

void Pool::Run::end_eval() {
  const double loss = eval_->mean_loss();
  std::optional<double> accuracy;
  const bool classes = job_.train.loss == Loss::kCrossEntropy && !space_.tokens;
  if (classes) accuracy = eval_->accuracy();
  std::optional<double> perplexity;
  if (space_.tokens) perplexity = std::exp(loss);
  past_.eval = EvalRecord{eval_->step(), loss, accuracy, perplexity};
  effects_->push_back(Append{*past_.eval});
  effects_->push_back(Evaluated{eval_->step(), loss, accuracy, perplexity});
  forget_leases_if([](const LiveLease&) { return true; });
  eval_.reset();
  phase_since_ = now_;
  if (last_eval_done_) {
    begin_measure();
  } else {
    open_steps();
  }
}

// A shared machine is half as fast in one second as in the next, so training and computing alone
// take turns. Not where a step is longer than a turn: there the end is enough.
bool Pool::Run::measure_due(Duration step_span) const {
  return options_.measure_efficiency && busy_ >= measure_at_ && step_span < kMeasureTurn &&
         roster_.ready_count() > 0;
}

void Pool::Run::begin_measure() {
  const bool last = steps_done();
  if (!options_.measure_efficiency || roster_.ready_count() == 0) {
    finish(std::nullopt);
    return;
  }
  phase_ = Phase::kMeasuring;
  onward_.reset();
  phase_since_ = now_;
  const bool only = last && alone_seconds_ == 0;
  measure_span_ =
      std::min(options_.measure_span, only ? std::max(kMeasureSpanLeast, busy_ / 2) : kMeasureTurn);
  measure_at_ = busy_ + std::max(kMeasureEvery, busy_ / kMeasurePart);
  const auto span = std::chrono::duration_cast<std::chrono::milliseconds>(measure_span_);
  for (auto& [link, member] : roster_.members()) {
    member.measured_units_per_second.reset();
    if (!member.took_part()) continue;
    bring_up(member);
    send(member, wire::Measure{static_cast<std::uint32_t>(span.count())});
  }
  note(last ? Note::Weight::kNormal : Note::Weight::kDetail, "measuring",
       fmt::format("every slot computes alone for {:.1f} s", seconds(measure_span_)));
}

void Pool::Run::end_measure() {
  const bool last = steps_done();
  bool all = true;
  double units_per_second = 0;
  for (const auto& [link, member] : roster_.members()) {
    units_per_second += member.measured_units_per_second.value_or(0);
    all = all && (!member.took_part() || member.measured_units_per_second);
  }
  if (units_per_second > 0 && (all || (last && alone_seconds_ == 0))) {
    alone_units_ += units_per_second * seconds(measure_span_);
    alone_seconds_ += seconds(measure_span_);
  }
  phase_since_ = now_;
  if (!last) {
    open_steps();
    hand_out();
    return;
  }
  const double trained = static_cast<double>(past_.units) / std::max(1e-9, seconds(busy_));
  if (alone_units_ > 0) totals_.efficiency = trained * alone_seconds_ / alone_units_;
  finish(std::nullopt);
}

void Pool::Run::stop(const std::string& reason) {
  if (phase_ == Phase::kFinished) return;
  note(Note::Weight::kNormal, "stopped", fmt::format("step={} reason={}", replica_.step(), reason));
  finish(std::nullopt);
}

void Pool::Run::fail(Error error) {
  if (phase_ == Phase::kFinished) return;
  note(Note::Weight::kWarning, "failed",
       fmt::format("step={} reason={}", replica_.step(), describe(error)));
  finish(std::move(error));
}

void Pool::Run::finish(std::optional<Error> error) {
  phase_ = Phase::kFinished;
  pending_.reset();
  wire::Bye bye;
  bye.reason = error ? error->detail.substr(0, 512) : "the run is over";
  bye.code = error ? static_cast<std::uint16_t>(error->code) : 0;
  bye.step = replica_.step();
  bye.state_hash = replica_.state_hash();
  const auto packet = std::make_shared<const wire::Packet>(wire::encode(bye));
  // The members stay on the roster: the summary speaks of them.
  for (auto& [link, member] : roster_.members()) {
    send(member, packet);
    effects_->push_back(Close{link, {Errc::kLinkLost, "the run is over"}});
  }
  forget_leases_if([](const LiveLease&) { return true; });
  effects_->push_back(Finished{std::move(error)});
}

}  // namespace wide::engine
