#pragma once
// For tests: a pool and one made-up node, its ledger and checkpoints on a disk in memory, step by
// step, and whatever the test wants in between.

#include <memory>
#include <string>
#include <utility>

#include "wide/base/check.h"
#include "wide/engine/lease_work.h"
#include "wide/engine/pool/pool.h"
#include "wide/engine/stub_computer.h"
#include "wide/history/keeper.h"
#include "wide/history/recovery.h"
#include "wide/history/run_identity.h"
#include "wide/store/memory_disk.h"

namespace wide::history {

inline SampleSpace kept_space() {
  SampleSpace space;
  space.train_count = 1000;
  space.sample_shape = {6};
  space.class_count = 3;
  space.sha256 = sha256("kept");
  return space;
}

inline engine::Job kept_job(std::uint64_t steps = 12) {
  engine::Job job;
  job.name = "kept";
  job.model.kind = engine::ModelKind::kMlp;
  job.model.layers = {6, 5, 3};
  job.train.units_per_step = 3;
  job.train.steps = steps;
  return job;
}

// Checkpoints whenever the test asks, a segment for each.
inline KeeperOptions kept_options(engine::Exact exact = engine::Exact::kLedger) {
  KeeperOptions options;
  options.exact = exact;
  options.grown_bytes = 1;
  options.pause_least = Duration{};
  options.segment_bytes = 1;
  return options;
}

class KeptRun final {
 public:
  explicit KeptRun(store::Disk& disk, KeeperOptions options = kept_options(),
                   engine::Job job = kept_job())
      : disk_(disk),
        options_(options),
        job_(std::move(job)),
        genesis_(engine::make_genesis(job_, kept_space())),
        factory_(job_, genesis_.layout),
        computer_(factory_.make_computer()),
        pool_(std::make_unique<engine::Pool>(job_, kept_space(), genesis_, engine::PoolOptions(),
                                             buffers_)) {}

  void begin() {
    keeper_ = std::make_unique<Keeper>(
        value_or_throw(Keeper::create(disk_, pool_->genesis(), pool_->layout(), options_, now)));
    join();
  }
  // What a process does that was started with --resume.
  Result<Recovered> resume() {
    auto recovered = recover(disk_, *pool_, buffers_);
    if (!recovered) return recovered;
    auto keeper =
        Keeper::reopen(disk_, pool_->genesis(), pool_->layout(), options_, *recovered, now);
    if (!keeper) return tl::unexpected(keeper.error());
    keeper_ = std::make_unique<Keeper>(std::move(*keeper));
    pool_->resume(now, effects_);
    carry_out();
    join();
    return recovered;
  }

  // One step more, written to the ledger; false at the end of the run.
  bool step() {
    const Step before = pool_->replica().step();
    while (!pool_->finished() && pool_->replica().step() == before) {
      WIDE_CHECK(!leases_.empty());
      const auto lease = leases_.front();
      leases_.erase(leases_.begin());
      pool_->received(LinkId{1}, answer(lease), 100, now, effects_);
      carry_out();
    }
    return pool_->replica().step() > before;
  }
  void steps(int count) {
    for (int i = 0; i < count; ++i) step();
  }
  // Whatever is due, to its end.
  void chores() {
    now += std::chrono::seconds(100);
    while (keeper_->slow_chore_due(now)) {
      auto chore = value_or_throw(keeper_->slow_chore(*pool_, now));
      if (!chore) return;
      Result<bool> outcome = false;
      while (outcome && !*outcome) outcome = chore->step();
      keeper_->ended(std::move(chore), outcome, now);
      now += std::chrono::seconds(100);
      if (!outcome) return;
    }
  }

  engine::Pool& pool() { return *pool_; }
  Keeper& keeper() { return *keeper_; }
  engine::UnitComputer& computer() { return *computer_; }
  BufferPool& buffers() { return buffers_; }
  RunIdentity identity() const {
    RunIdentity identity;
    identity.job = job_;
    identity.job_id = pool_->id();
    identity.genesis_sha256 = genesis_.sha256();
    identity.layout = genesis_.layout;
    identity.space = kept_space();
    identity.genesis = genesis_;
    return identity;
  }
  Digest state_hash() const { return pool_->replica().state_hash(); }

  Time now{std::chrono::seconds(1)};

 private:
  void join() {
    if (pool_->finished()) return;
    pool_->opened(LinkId{1}, "test", now, effects_);
    wire::Hello hello;
    hello.name = "n";
    pool_->received(LinkId{1}, hello, 100, now, effects_);
    wire::Ready ready;
    ready.class_hash = sha256("class");
    pool_->received(LinkId{1}, ready, 100, now, effects_);
    pool_->received(LinkId{1}, wire::Want{2}, 100, now, effects_);
    carry_out();
  }
  void carry_out() {
    while (!effects_.empty()) {
      engine::Effects effects;
      std::swap(effects, effects_);
      for (auto& effect : effects) std::visit([this](auto& any) { take(any); }, effect);
    }
  }
  void take(engine::Append& append) {
    value_or_throw(keeper_->append(append.record));
    if (std::holds_alternative<engine::CommitRecord>(append.record)) {
      pool_->appended(now, effects_);
    }
  }
  void take(engine::Send& send) {
    if (send.packet->kind != wire::Kind::kLease) return;
    wire::Limits limits = wire::Limits::for_caller();
    limits.block_count_max = job_.blocks_per_step();
    leases_.push_back(std::get<wire::Lease>(
        value_or_throw(wire::decode(send.packet->kind, send.packet->head, {}, limits))));
  }
  template <class Other>
  void take(Other&) {}

  wire::LeaseResult answer(const wire::Lease& lease) {
    auto outcome = engine::compute_lease(*computer_, job_, genesis_.layout,
                                         pool_->replica().weights_at(lease.base), lease, buffers_);
    wire::LeaseResult result;
    result.lease = lease.lease;
    result.step = lease.step;
    result.base_chain = lease.base_chain;
    result.first_block = lease.first_block;
    result.want = 1;
    result.loss_sum = outcome.value.loss_sum;
    result.rows = std::move(outcome.rows);
    result.sum = std::move(outcome.sent);
    return result;
  }

  store::Disk& disk_;
  KeeperOptions options_;
  engine::Job job_;
  engine::Genesis genesis_;
  BufferPool buffers_;
  engine::StubFactory factory_;
  std::unique_ptr<engine::UnitComputer> computer_;
  std::unique_ptr<engine::Pool> pool_;
  std::unique_ptr<Keeper> keeper_;
  engine::Effects effects_;
  std::vector<wire::Lease> leases_;
};

}  // namespace wide::history
