#include "wide/engine/pool/pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "wide/engine/link_limits.h"
#include "wide/engine/pool/pool_run.h"

namespace wide::engine {

namespace {

// A node that comes back after a short break shall not need a snapshot, however large the model is.
// And who has just missed the last update needs it alone, or all that a delay keeps open.
constexpr std::size_t kRingUpdates = 4;

wire::Limits limits_of(const Job& job, const Layout& layout, const SampleSpace& space) {
  wire::Limits limits;
  limits.fetch_count_max = kFetchCountMax;
  limits.kept_count_max = wire::kKeptCountMax;
  limits.stranger = false;
  return limits_for_job(limits, job, layout, space);
}

}  // namespace

Pool::Run::Run(Job job, SampleSpace space, const Genesis& genesis, PoolOptions options,
               BufferPool& buffers)
    : job_(std::move(job)),
      space_(std::move(space)),
      options_(options),
      layout_(genesis.layout),
      job_text_(text_for_nodes(job_)),
      job_id_(job_id(job_, space_.sha256)),
      genesis_sha256_(genesis.sha256()),
      step_count_(job_.step_count(space_.train_count)),
      limits_(limits_of(job_, layout_, space_)),
      buffers_(buffers),
      lead_(job_, genesis, chain_genesis(job_id_, genesis_sha256_), buffers),
      codecs_(job_.codec, limits_.block_bytes, limits_.update_bytes),
      ring_(std::max(options_.ring_bytes_max, kRingUpdates * limits_.value_count * sizeof(float)),
            1 + job_.delay) {
  totals_.job = job_.name;
  totals_.job_id = job_id_;
  totals_.strategy = "sync";
  stands_ = !genesis.values.empty();
  open_steps();
}

Pool::Pool(Job job, SampleSpace space, const Genesis& genesis, PoolOptions options,
           BufferPool& buffers)
    : run_(std::make_unique<Run>(std::move(job), std::move(space), genesis, options, buffers)) {}
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

void Pool::received(LinkId link, wire::Message&& message, std::size_t wire_bytes, Time now,
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

bool Pool::stand_at(const Genesis& genesis) { return run_->stand_at(genesis); }
bool Pool::restore(const FrozenReplica& replica, Past past) {
  return run_->restore(replica, std::move(past));
}
bool Pool::recall(const LedgerRecord& record) { return run_->recall(record); }

void Pool::resume(Time now, Effects& effects) {
  run_->effects_ = &effects;
  run_->now_ = now;
  run_->resume();
}

void Pool::appended(Time now, Effects& effects) {
  run_->effects_ = &effects;
  run_->now_ = now;
  run_->appended();
}

void Pool::hold(std::string why) { run_->held_by_ = std::move(why); }

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

void Pool::fail(Error error, Time now, Effects& effects) {
  run_->effects_ = &effects;
  run_->now_ = now;
  run_->fail(std::move(error));
}

void Pool::shipped(LinkId link, std::size_t wire_bytes, bool chunk) {
  run_->totals_.bytes_sent += wire_bytes;
  run_->totals_.shipped_bytes += wire_bytes;
  Member* member = run_->roster_.find(link);
  if (member == nullptr) return;
  member->bytes_received += wire_bytes;
  if (chunk && member->chunks_owed > 0) --member->chunks_owed;
}

void Pool::saved(LinkId link, std::size_t sent_bytes, std::size_t received_bytes) {
  // What is sent was counted as it was; what is received is counted as it came.
  run_->totals_.bytes_sent -= sent_bytes;
  run_->bytes_saved_ += sent_bytes + received_bytes;
  Member* member = run_->roster_.find(link);
  if (member == nullptr) return;
  member->bytes_received -= sent_bytes;
  member->bytes_saved += sent_bytes + received_bytes;
}

void Pool::spent_on_coding(Duration span) {
  run_->totals_.encode_ns += static_cast<std::uint64_t>(span.count());
}

std::string Pool::name_of(LinkId link) const {
  const Member* member = run_->roster_.find(link);
  if (member == nullptr) return "a link that is gone";
  return member->name.empty() ? member->peer : member->name;
}

Time Pool::next_tick(Time now) const {
  // Copies of overdue leases are looked for this often; nothing finer is ever at stake.
  const Duration pause =
      run_->leases_.size() > 0 ? std::chrono::milliseconds(50) : std::chrono::milliseconds(250);
  return std::max(now, run_->ticked_at_ + pause);
}

bool Pool::finished() const { return run_->phase_ == Run::Phase::kFinished; }
bool Pool::stands() const { return run_->stands_; }
bool Pool::reaches_back() const { return run_->reaches_back(); }
bool Pool::complete() const { return run_->steps_done() && !run_->eval_due(); }
bool Pool::training() const {
  return run_->phase_ == Run::Phase::kTraining && run_->leases_.size() > 0;
}
Progress Pool::progress(Time now) const { return run_->progress(now); }
Summary Pool::summary() const { return run_->summary(); }
const Replica& Pool::replica() const { return run_->replica_; }
Footprint Pool::footprint() const { return run_->footprint(); }
const Past& Pool::past() const { return run_->past_; }
GenesisRecord Pool::genesis() const { return run_->genesis(); }
const Job& Pool::job() const { return run_->job_; }
const Layout& Pool::layout() const { return run_->layout_; }
const Digest& Pool::id() const { return run_->job_id_; }

}  // namespace wide::engine
