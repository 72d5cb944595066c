#include "wide/engine/node/node.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "wide/base/check.h"
#include "wide/engine/link_limits.h"
#include "wide/engine/work_ahead.h"

namespace wide::engine {

namespace {

// A refusal that another try cannot mend.
bool is_final(Errc code) {
  switch (code) {
    case Errc::kOtherJob:
    case Errc::kOtherClass:
    case Errc::kOtherProtocol:
    case Errc::kBadResult:
    case Errc::kUnexpectedMessage:
      return true;
    default:
      return false;
  }
}

// How many leases may wait here for a free slot. The pool sends so many only where units are short.
constexpr std::uint32_t kLeasesAhead = 3;
// A lease that takes no longer may wait for its neighbour before it is sent.
constexpr Duration kBrief = std::chrono::milliseconds(1);

using AnyLease = std::variant<wire::Lease, wire::EvalLease>;

// The step that it belongs to: once a replica is past it, it is worth nothing.
Step step_of(const AnyLease& lease) {
  const auto* work = std::get_if<wire::Lease>(&lease);
  return work != nullptr ? work->step : std::get<wire::EvalLease>(lease).base;
}

// The weights to compute on, where this replica has them; else null.
Weights base_of(const AnyLease& lease, const Replica& replica) {
  return std::visit(
      [&](const auto& any) {
        Weights base = replica.weights_at(any.base);
        return base != nullptr && base->chain == any.base_chain ? base : nullptr;
      },
      lease);
}

}  // namespace

Node::Node(NodeOptions options, BufferPool& buffers)
    : options_(std::move(options)),
      buffers_(buffers),
      name_(options_.name),
      kept_(options_.slots + 1u) {}

void Node::connected(Time now, NodeEffects& effects) {
  effects_ = &effects;
  now_ = waited_until_ = now;
  linked_ = true;
  times_ = {};
  wire::Hello hello;
  hello.slots = options_.slots;
  hello.program_version = options_.program_version;
  hello.name = options_.name;
  hello.seat = options_.seat;
  if (job_) hello.job_id = welcome_.job_id;
  send(std::move(hello));
}

void Node::closed(Time) {
  linked_ = welcomed_ = announced_ = resyncing_ = false;
  for (const auto& [task, lease] : busy_) {
    if (const auto* work = std::get_if<wire::Lease>(&lease)) {
      orphans_.emplace(task, WorkKey::of(*work));
    }
  }
  drop_work();
  whole_.reset();
  kept_.link_ended();
}

template <class Other>
void Node::on(Other&) {
  hang_up(Errc::kUnexpectedMessage, "the pool sent what only nodes send", false);
}

void Node::received(wire::Message&& message, Time now, NodeEffects& effects) {
  effects_ = &effects;
  now_ = now;
  std::visit([this](auto& body) { on(body); }, message);
}

// Not before: a Yield may have come behind the rest.
void Node::drained(Time now, NodeEffects& effects) {
  effects_ = &effects;
  now_ = now;
  if (onward_) {
    go_on();
  } else {
    work_ahead();
  }
}

void Node::on(wire::Welcome& welcome) {
  name_ = welcome.name;
  welcomed_ = true;
  welcome_.step = welcome.step;
  if (job_) {  // back after a break; a hello with our job's id was accepted
    if (space_) announce();
    return;
  }
  auto job = parse_job(welcome.job_text, "the pool's job");
  if (!job) {
    hang_up(job.error().code, job.error().detail, true);
    return;
  }
  job_ = std::move(*job);
  welcome_ = std::move(welcome);
  effects_->push_back(Prepare{*job_, welcome_.samples_sha256});
}

void Node::prepared(const SampleSpace& space, const Genesis& genesis, std::string libraries,
                    const Digest& class_hash, Time now, NodeEffects& effects) {
  effects_ = &effects;
  now_ = now;
  if (job_id(*job_, space.sha256) != welcome_.job_id) {
    hang_up(Errc::kSamplesDiffer, "the samples here are not the ones that the job names", true);
    return;
  }
  space_ = space;
  libraries_ = std::move(libraries);
  class_hash_ = class_hash;
  layout_ = genesis.layout;
  update_codec_.emplace(*job_, *layout_);
  replica_ = std::make_unique<Replica>(*job_, genesis,
                                       chain_genesis(welcome_.job_id, welcome_.genesis_sha256));
  if (replica_->weights_sha256() != welcome_.genesis_sha256) {
    hang_up(Errc::kOtherProtocol, "this program makes other genesis weights than the pool's", true);
    return;
  }
  if (may_be_foreseen(*job_)) kept_.keep_at_most(options_.slots + 1u + job_->delay);
  if (welcomed_) announce();
}

void Node::announce() {
  effects_->push_back(
      NodeSetLimits{limits_for_job(wire::Limits::for_caller(), *job_, *layout_, *space_)});
  send(wire::Ready{libraries_, class_hash_, replica_->step() > 0, replica_->step(),
                   replica_->chain(), replica_->oldest_step(), kept_runs()});
  // More than there are slots: the next leases wait here while the last ones are computed.
  send(wire::Want{options_.slots + kLeasesAhead});
  joined_ = announced_ = true;
  waited_until_ = now_;
  effects_->push_back(
      NodeNote{false, fmt::format("joined job={} name={} slots={} step={}", job_->name, name_,
                                  options_.slots, welcome_.step)});
}

void Node::on(wire::Refused& refused) {
  const auto code = static_cast<Errc>(refused.code);
  hang_up(code, "the pool said: " + refused.reason, !joined_ || is_final(code));
}

void Node::on(wire::Lease& lease) {
  const Block blocks = job_ ? job_->blocks_per_step() : 0;
  if (!announced_ || lease.first_block >= blocks || lease.base != job_->base_of(lease.step) ||
      !may_use(job_->codec.gradient, lease.codec) ||
      !is_subtree({lease.first_block, lease.block_count}, blocks)) {
    hang_up(Errc::kUnexpectedMessage, "the pool sent a lease that cannot be", false);
    return;
  }
  enqueue(lease);
}

void Node::on(wire::EvalLease& lease) {
  const std::uint64_t units = space_ ? eval_unit_count(*job_, *space_) : 0;
  if (!announced_ || lease.unit_count == 0 ||
      std::uint64_t{lease.first_unit} + lease.unit_count > units) {
    hang_up(Errc::kUnexpectedMessage, "the pool sent a lease that cannot be", false);
    return;
  }
  enqueue(lease);
}

void Node::enqueue(AnyLease lease) {
  if (resyncing_) return;  // the pool has taken it back already
  onward_.reset();
  if (base_of(lease, *replica_) == nullptr) {
    const Step base = std::visit([](const auto& any) { return any.base; }, lease);
    resync(fmt::format("a lease on step {}, this replica is at {}", base, replica_->step()));
    return;
  }
  const auto* work = std::get_if<wire::Lease>(&lease);
  if (ahead_) ahead_was(work != nullptr && WorkKey::of(*work) == *ahead_);
  if (work != nullptr && work->steps_onward > 0) {
    onward_ = *work;
    next_onward_ = work->step + 1;
    left_to_others_.reset();
  }
  if (work != nullptr && answer_from_kept(*work)) return;
  queue_.push_back(std::move(lease));
  fill_slots();
}

// True where the lease needs no slot: its answer is here, or a slot is at it already.
bool Node::answer_from_kept(const wire::Lease& lease) {
  if (auto* entry = kept_.find(WorkKey::of(lease)); entry != nullptr && !entry->told) {
    entry->told = true;
    answer(lease, entry->outcome, entry->compute_span, 1);
    return true;
  }
  for (const TaskId task : unasked_) {
    auto& unasked = std::get<wire::Lease>(busy_.at(task));
    if (WorkKey::of(unasked) != WorkKey::of(lease)) continue;
    unasked = lease;
    unasked_.erase(task);
    return true;
  }
  const auto orphan = std::ranges::find_if(
      orphans_, [&](const auto& task) { return task.second == WorkKey::of(lease); });
  if (orphan == orphans_.end()) return false;
  busy_.emplace(orphan->first, lease);
  orphans_.erase(orphan);
  return true;
}

std::vector<wire::KeptRun> Node::kept_runs() const {
  std::vector<wire::KeptRun> runs;
  const auto add = [&](const WorkKey& work) {
    if (still_good(work) && runs.size() < wire::kKeptCountMax) {
      runs.push_back({work.step, work.first_block, work.block_count});
    }
  };
  for (const auto& entry : kept_.entries()) add(entry.work);
  for (const auto& [task, work] : orphans_) add(work);
  return runs;
}

// The step is not over, and this is the replica that the work was done on, or will be.
bool Node::still_good(const WorkKey& work) const {
  if (work.step < replica_->step()) return false;
  const Weights base = replica_->foreseen_at(job_->base_of(work.step));
  return base != nullptr && base->chain == work.base_chain;
}

void Node::fill_slots() {
  while (busy_slots_ < options_.slots && !queue_.empty()) {
    account_wait();
    const TaskId task{next_task_++};
    AnyLease lease = std::move(queue_.front());
    queue_.pop_front();
    ++busy_slots_;
    Weights base = base_of(lease, *replica_);
    WIDE_CHECK(base != nullptr, "what waits here can be computed");
    if (const auto* work = std::get_if<wire::Lease>(&lease)) {
      effects_->push_back(Compute{task, *work, std::move(base)});
    } else {
      effects_->push_back(ComputeEval{task, std::get<wire::EvalLease>(lease), std::move(base)});
    }
    busy_.emplace(task, std::move(lease));
  }
}

std::optional<Node::AnyLease> Node::end_task(TaskId task, Duration compute_span) {
  account_wait();
  WIDE_CHECK(busy_slots_ > 0);
  --busy_slots_;
  times_.compute_ns += static_cast<std::uint64_t>(compute_span.count());
  const auto found = busy_.find(task);
  if (found == busy_.end()) return std::nullopt;  // of a link that is gone, or no longer wanted
  AnyLease lease = std::move(found->second);
  busy_.erase(found);
  return lease;
}

void Node::computed(TaskId task, LeaseOutcome outcome, Duration compute_span, Time now,
                    NodeEffects& effects) {
  effects_ = &effects;
  now_ = now;
  units_done_ += outcome.rows.size() * job_->train.block_units;
  if (const auto any = end_task(task, compute_span)) {
    const auto& lease = std::get<wire::Lease>(*any);
    answer(lease, outcome, compute_span, unasked_.erase(task) > 0 ? 0 : 1);
    brief_step_ = compute_span < kBrief ? std::optional(lease.step) : std::nullopt;
    kept_.keep({WorkKey::of(lease), std::move(outcome), compute_span, true});
  } else if (const auto orphan = orphans_.extract(task)) {
    kept_.keep({orphan.mapped(), std::move(outcome), compute_span});
  }
  fill_slots();
  if (onward_) go_on();
}

void Node::answer(const wire::Lease& lease, const LeaseOutcome& outcome, Duration compute_span,
                  std::uint32_t want) {
  wire::LeaseResult result;
  result.lease = lease.lease;
  result.step = lease.step;
  result.base_chain = lease.base_chain;
  result.first_block = lease.first_block;
  result.want = want;
  result.loss_sum = outcome.value.loss_sum;
  result.compute_ns = static_cast<std::uint64_t>(compute_span.count());
  result.times = times_;
  result.rows = outcome.rows;
  result.sum = outcome.sent;
  send(std::move(result));
  whole_.reset();
  if (lease.block_count == job_->blocks_per_step()) whole_ = WorkKey::of(lease);
}

void Node::computed_eval(TaskId task, std::vector<wire::EvalRow> rows, Duration compute_span,
                         Time now, NodeEffects& effects) {
  effects_ = &effects;
  now_ = now;
  if (const auto any = end_task(task, compute_span)) {
    const auto& lease = std::get<wire::EvalLease>(*any);
    send(wire::EvalResult{lease.lease, lease.base, lease.base_chain, lease.first_unit, 1,
                          std::move(rows)});
  }
  fill_slots();
}

void Node::on(wire::Update& update) {
  if (!announced_) {
    hang_up(Errc::kUnexpectedMessage, "an update before this node was ready", false);
    return;
  }
  if (resyncing_) return;
  auto values = update_codec_->decode(update.values, buffers_);
  if (!values) {
    hang_up(values.error().code, values.error().detail, false);
    return;
  }
  const StepUpdate decoded{update.step, update.chain_after, update.scalars, std::move(*values)};
  if (update.step != replica_->step() || !replica_->apply(decoded)) {
    resync(fmt::format("update {} does not fit this replica at step {}", update.step,
                       replica_->step()));
    return;
  }
  drop_stale();
}

// Where its own result is not foreseen yet, it is here, and will be now.
void Node::on(wire::Committed& committed) {
  if (!announced_) {
    hang_up(Errc::kUnexpectedMessage, "a commit before this node was ready", false);
    return;
  }
  if (resyncing_) return;
  foresee_whole_steps();
  if (!replica_->has_come(committed.step, committed.chain_after)) {
    resync(fmt::format("step {} was not foreseen like that by this replica at step {}",
                       committed.step, replica_->step()));
    return;
  }
  drop_stale();
}

// Work on a step that is over is not worth starting; the pool has it from somebody else.
void Node::drop_stale() {
  kept_.keep_only([this](const WorkKey& work) { return still_good(work); });
  const auto dropped = std::erase_if(queue_, [this](const AnyLease& lease) {
    return step_of(lease) < replica_->step() || base_of(lease, *replica_) == nullptr;
  });
  if (dropped > 0) send(wire::Want{static_cast<std::uint32_t>(dropped)});
  if (ahead_ && ahead_->step < replica_->step()) ahead_was(false);
}

void Node::on(wire::Snapshot& snapshot) {
  if (!announced_) {
    hang_up(Errc::kUnexpectedMessage, "a snapshot before this node was ready", false);
    return;
  }
  if (!replica_->restore(snapshot)) {
    hang_up(Errc::kReplicaDrift, "the snapshot does not hash to what the pool says", false);
    return;
  }
  resyncing_ = false;
  drop_stale();
  effects_->push_back(
      NodeNote{true, fmt::format("replica taken from snapshot step={}", snapshot.step)});
}

// What slots are at comes to nothing.
void Node::drop_work() {
  onward_.reset();
  unasked_.clear();
  queue_.clear();
  busy_.clear();
}

void Node::resync(const std::string& reason) {
  resyncing_ = true;
  drop_work();
  effects_->push_back(NodeNote{false, "asked for a snapshot: " + reason});
  send(wire::Resync{replica_->step(), replica_->chain(), reason});
  send(wire::Want{options_.slots + kLeasesAhead});
}

void Node::on(wire::Measure& measure) {
  if (!announced_) return;
  onward_.reset();
  const auto span = std::min<std::uint32_t>(measure.milliseconds, 60000);
  effects_->push_back(MeasureSlots{std::chrono::milliseconds(span), replica_->weights()});
}

void Node::helped(Block blocks, Duration span) {
  units_done_ += std::uint64_t{blocks} * job_->train.block_units;
  times_.compute_ns += static_cast<std::uint64_t>(span.count());
  helped_for_ += span;
}

void Node::measured(std::uint64_t units, Duration span, Time now, NodeEffects& effects) {
  effects_ = &effects;
  now_ = now;
  if (linked_) send(wire::Measured{units, seconds(span)});
}

void Node::on(wire::Bye& bye) {
  if (replica_ && replica_->step() == bye.step && !bye.state_hash.is_zero()) {
    const bool same = replica_->state_hash() == bye.state_hash;
    effects_->push_back(NodeNote{same, fmt::format("replica at step {} {} the pool's", bye.step,
                                                   same ? "equals" : "DIFFERS FROM")});
  }
  std::optional<Error> error;
  if (bye.code != 0) error = Error{static_cast<Errc>(bye.code), "the pool said: " + bye.reason};
  effects_->push_back(Hangup{std::move(error), true});
}

void Node::tick(Time now, NodeEffects& effects) {
  effects_ = &effects;
  now_ = now;
  account_wait();
  if (linked_) send(wire::Heartbeat{units_done_, times_});
}

void Node::leave(const std::string& reason, Time now, NodeEffects& effects) {
  effects_ = &effects;
  now_ = now;
  drop_work();
  if (linked_ && welcomed_) {
    send(wire::Leave{reason});
  } else {
    effects_->push_back(Hangup{std::nullopt, true});
  }
}

void Node::account_wait() {
  const auto idle = options_.slots - std::min<Duration::rep>(busy_slots_, options_.slots);
  const Duration waited = idle * (now_ - waited_until_) - std::exchange(helped_for_, Duration{});
  if (announced_)
    times_.wait_ns += static_cast<std::uint64_t>(std::max(waited, Duration{}).count());
  waited_until_ = now_;
}

void Node::send(wire::Message message) {
  effects_->push_back(
      NodeSend{std::make_shared<const wire::Packet>(wire::encode(std::move(message)))});
}

void Node::hang_up(Errc code, std::string why, bool final) {
  effects_->push_back(Hangup{Error{code, std::move(why)}, final});
}

}  // namespace wide::engine
