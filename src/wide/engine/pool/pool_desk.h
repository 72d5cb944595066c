#pragma once
// For tests: a pool with hand-held links. Messages go in, the pool's answers are read back through
// real frames, so what a test sees is what a peer would see.

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "wide/engine/lease_work.h"
#include "wide/engine/pool/pool.h"
#include "wide/engine/stub_computer.h"
#include "wide/wire/frame_reader.h"

namespace wide::engine {

class PoolDesk final {
 public:
  PoolDesk(Job job, SampleSpace space, PoolOptions options = {})
      : job_(job),
        space_(space),
        genesis_(make_genesis(job, space)),
        layout_(genesis_.layout),
        factory_(job, layout_),
        computer_(factory_.make_computer()),
        pool_(job, space, genesis_, options, buffers_) {}

  // --- a peer's verbs

  LinkId open() {
    const LinkId link{next_link_++};
    pool_.opened(link, "10.0.0." + std::to_string(link.value), now, effects_);
    collect();
    return link;
  }
  void say(LinkId link, wire::Message message) {
    pool_.received(link, std::move(message), 100, now, effects_);
    collect();
  }
  // Joins with a fresh replica and asks for so many leases.
  LinkId join(const std::string& name, std::uint32_t want, std::string class_name = "class") {
    wire::Ready ready;
    ready.class_hash = sha256(class_name);
    return join_as(std::move(ready), name, want);
  }
  LinkId join_as(wire::Ready ready, const std::string& name, std::uint32_t want) {
    const LinkId link = open();
    wire::Hello hello;
    hello.name = name;
    hello.slots = slots;
    hello.seat = seat;
    say(link, hello);
    say(link, std::move(ready));
    if (want > 0) say(link, wire::Want{want});
    return link;
  }
  void close(LinkId link) {
    pool_.closed(link, {Errc::kLinkLost, "test"}, now, effects_);
    collect();
  }
  void tick() {
    pool_.tick(now, effects_);
    collect();
  }
  void appended() {
    pool_.appended(now, effects_);
    collect();
  }
  void resume() {
    pool_.resume(now, effects_);
    collect();
  }
  void stop() {
    pool_.stop("test", now, effects_);
    collect();
  }

  // The right answer to a lease, computed on the pool's own replica.
  wire::LeaseResult answer(const wire::Lease& lease, std::uint32_t want = 1) {
    LeaseOutcome outcome = compute_lease(*computer_, job_, layout_,
                                         pool_.replica().weights_at(lease.base), lease, buffers_);
    wire::LeaseResult result;
    result.lease = lease.lease;
    result.step = lease.step;
    result.base_chain = lease.base_chain;
    result.first_block = lease.first_block;
    result.want = want;
    result.loss_sum = outcome.value.loss_sum;
    result.compute_ns = 1000000;
    result.rows = outcome.rows;
    result.sum = outcome.sent;
    return result;
  }

  // --- what came back

  template <class T>
  std::vector<T> got(LinkId link) {
    std::vector<T> found;
    for (const auto& message : inbox_[link]) {
      if (const T* wanted = std::get_if<T>(&message)) found.push_back(*wanted);
    }
    return found;
  }
  void forget() { inbox_.clear(); }
  bool was_closed(LinkId link) const { return closed_.contains(link); }
  Errc close_code(LinkId link) const { return closed_.at(link).code; }
  bool noted(const std::string& event) const {
    for (const auto& note : notes_) {
      if (note.event == event) return true;
    }
    return false;
  }

  Time now{std::chrono::seconds(1)};
  std::uint16_t slots = 8;  // of those who join
  std::uint16_t seat = 0;   // of the next one
  std::vector<std::variant<SendManifest, SendChunk, SendSamples>> shipments;
  std::vector<CommitRecord> records;
  std::vector<StopRecord> stops;
  std::vector<Note> notes_;
  std::vector<Evaluated> evaluated;
  bool finished = false;
  bool ledger_works = true;
  std::optional<Error> error;
  Pool& pool() { return pool_; }

 private:
  void collect() {
    while (!effects_.empty()) {
      Effects effects;
      std::swap(effects, effects_);
      for (auto& effect : effects) std::visit([this](auto& any) { take(any); }, effect);
    }
  }
  void take(Send& send) {
    wire::FrameWriter writer;
    writer.push(send.packet);
    wire::Limits limits = wire::Limits::for_caller();
    limits.value_count = layout_.value_count();
    limits.state_count = state_count(job_, layout_);
    limits.block_count_max = job_.blocks_per_step();
    limits.eval_unit_max = 1000;
    wire::FrameReader reader(buffers_, limits);
    std::vector<std::span<const std::byte>> segments;
    while (!writer.empty()) {
      writer.gather(segments);
      std::size_t count = 0;
      for (auto segment : segments) {
        count += segment.size();
        while (!segment.empty()) {
          const auto space = reader.space();
          const std::size_t some = std::min(space.size(), segment.size());
          std::copy_n(segment.begin(), some, space.begin());
          reader.filled(some);
          segment = segment.subspan(some);
        }
      }
      writer.sent(count);
    }
    inbox_[send.link].push_back(**reader.next());
  }
  void take(SendManifest& send) { shipments.push_back(send); }
  void take(SendChunk& send) { shipments.push_back(send); }
  void take(SendSamples& send) { shipments.push_back(send); }
  void take(SetLimits&) {}
  void take(Close& close) { closed_[close.link] = close.why; }
  void take(Append& append) {
    if (const auto* commit = std::get_if<CommitRecord>(&append.record)) {
      records.push_back(*commit);
      if (ledger_works) pool_.appended(now, effects_);
    }
    if (const auto* stop_record = std::get_if<StopRecord>(&append.record)) {
      stops.push_back(*stop_record);
    }
  }
  void take(Note& note) { notes_.push_back(note); }
  void take(Evaluated& eval) { evaluated.push_back(eval); }
  void take(Finished& end) {
    finished = true;
    error = end.error;
  }

  BufferPool buffers_;
  Job job_;
  SampleSpace space_;
  Genesis genesis_;
  Layout layout_;
  StubFactory factory_;
  std::unique_ptr<UnitComputer> computer_;
  Pool pool_;
  Effects effects_;
  std::uint64_t next_link_ = 1;
  std::map<LinkId, std::vector<wire::Message>> inbox_;
  std::map<LinkId, Error> closed_;
};

inline SampleSpace desk_space() {
  SampleSpace space;
  space.train_count = 1000;
  space.eval_count = 0;
  space.sample_shape = {6};
  space.class_count = 3;
  space.sha256 = sha256("desk");
  return space;
}

inline Job desk_job(std::uint32_t units = 4, std::uint64_t steps = 3) {
  Job job;
  job.name = "desk";
  job.model.kind = ModelKind::kMlp;
  job.model.layers = {6, 5, 3};
  job.train.units_per_step = units;
  job.train.steps = steps;
  return job;
}

// Leases of one block each.
inline PoolOptions one_block() {
  PoolOptions options;
  options.lease_blocks = 1;
  return options;
}

}  // namespace wide::engine
