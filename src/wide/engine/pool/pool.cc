#include "wide/engine/pool/pool.h"

#include <fmt/format.h>

#include <utility>

#include "wide/engine/lease_work.h"
#include "wide/engine/pool/pool_run.h"

namespace wide::engine {

namespace {

wire::Limits limits_of(const Job& job, const Layout& layout, const SampleSpace& space) {
  wire::Limits limits;
  limits.value_count = layout.value_count();
  limits.state_count = state_count(job, layout);
  limits.block_count_max = job.blocks_per_step();
  limits.eval_unit_max = eval_unit_count(job, space);
  limits.stranger = false;
  return limits;
}

// What nodes are told: where the samples lie on the pool's machine is nobody else's business.
std::string text_for_others(Job job) {
  job.samples.path.clear();
  return canonical_text(job);
}

Replica genesis_replica(const Job& job, const Layout& layout, const Digest& id, Digest& sha256) {
  std::vector<float> values(layout.value_count());
  fill_genesis(job.model, layout, job.seed, values);
  sha256 = wide::sha256(std::as_bytes(std::span(values)));
  return Replica(job, layout, chain_genesis(id, sha256));
}

}  // namespace

Pool::Run::Run(Job job, SampleSpace space, PoolOptions options, BufferPool& buffers)
    : job_(std::move(job)),
      space_(std::move(space)),
      options_(options),
      layout_(make_layout(job_.model, space_)),
      job_text_(text_for_others(job_)),
      job_id_(job_id(job_, space_.sha256)),
      step_count_(job_.step_count(space_.train_count)),
      limits_(limits_of(job_, layout_, space_)),
      buffers_(buffers),
      replica_(genesis_replica(job_, layout_, job_id_, genesis_sha256_)),
      sizer_(job_.blocks_per_step()),
      ring_(options_.ring_bytes_max) {
  totals_.job = job_.name;
  totals_.job_id = job_id_;
  totals_.strategy = "sync";
  begin_step();
}

Pool::Pool(Job job, SampleSpace space, PoolOptions options, BufferPool& buffers)
    : run_(std::make_unique<Run>(std::move(job), std::move(space), options, buffers)) {}
Pool::~Pool() = default;

void Pool::opened(LinkId link, std::string peer, Time now, Effects& effects) {
  run_->effects_ = &effects;
  run_->now_ = now;
  Member& member = run_->roster_.open(link, std::move(peer), now);
  if (run_->roster_.members().size() > run_->options_.link_count_max) {
    run_->refuse(member, Errc::kPoolFull,
                 fmt::format("{} links are open already", run_->options_.link_count_max));
  }
}

void Pool::heard(LinkId link, Time now) {
  if (Member* member = run_->roster_.find(link)) member->heard_at = now;
}

void Pool::received(LinkId link, wire::Message message, std::size_t wire_bytes, Time now,
                    Effects& effects) {
  Member* member = run_->roster_.find(link);
  if (member == nullptr) return;  // refused already; what it still sends is not read
  run_->effects_ = &effects;
  run_->now_ = now;
  member->heard_at = now;
  member->bytes_sent += wire_bytes;
  run_->totals_.bytes_received += wire_bytes;
  run_->received(*member, std::move(message));
}

void Pool::broken(LinkId link, const Error& why, Time now, Effects& effects) {
  Member* member = run_->roster_.find(link);
  if (member == nullptr) return;
  run_->effects_ = &effects;
  run_->now_ = now;
  run_->refuse(*member, why.code, why.detail);
  run_->hand_out();
}

void Pool::closed(LinkId link, const Error& why, Time now, Effects& effects) {
  if (run_->roster_.find(link) == nullptr) return;
  run_->effects_ = &effects;
  run_->now_ = now;
  run_->drop(link, why.detail);
  run_->hand_out();
}

void Pool::tick(Time now, Effects& effects) {
  run_->effects_ = &effects;
  run_->now_ = now;
  run_->tick();
}

void Pool::stop(const std::string& reason, Time now, Effects& effects) {
  run_->effects_ = &effects;
  run_->now_ = now;
  run_->stop(reason);
}

Time Pool::next_tick(Time now) const {
  // Copies of overdue leases are looked for this often; nothing finer is ever at stake.
  const Duration pause =
      run_->leases_.size() > 0 ? std::chrono::milliseconds(50) : std::chrono::milliseconds(250);
  return std::max(now, run_->ticked_at_ + pause);
}

bool Pool::finished() const { return run_->phase_ == Run::Phase::kFinished; }
Progress Pool::progress(Time now) const { return run_->progress(now); }
Summary Pool::summary() const { return run_->summary(); }
const Replica& Pool::replica() const { return run_->replica_; }
const Job& Pool::job() const { return run_->job_; }
const Layout& Pool::layout() const { return run_->layout_; }
const Digest& Pool::id() const { return run_->job_id_; }

}  // namespace wide::engine
