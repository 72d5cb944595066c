#pragma once
// Where the samples of a node come from that has no files: from the pool, as chunks that are kept
// (ship = "auto") or with every lease (ship = "always"). A node that has the files never wakes it.
//
//   preparing thread   open() ─▶ WantSamples … Manifest ─▶ a dataset; hold_first_unit()
//   I/O thread         a lease comes: expect() fetches ahead; when_at_hand() hands over what keeps
//                      its samples there while it is computed
//
// The manifest is believed because it hashes to what the job's id is made of, and a chunk because
// it hashes to what the manifest says.

#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <unordered_set>
#include <utility>

#include <asio/io_context.hpp>

#include "wide/data/recipe.h"
#include "wide/data/shipped.h"
#include "wide/engine/job.h"
#include "wide/net/chunk_fetcher.h"
#include "wide/net/sample_plan.h"
#include "wide/wire/message_codec.h"

namespace wide::net {

// An answer that one thread waits for and another gives, once; what is said later is not heard.
template <class Value>
class Answer final {
 public:
  void tell(Value value) {
    if (!std::exchange(told_, true)) promise_.set_value(std::move(value));
  }
  void refuse(Error error) {
    if (std::exchange(told_, true)) return;
    promise_.set_exception(std::make_exception_ptr(Failure(std::move(error))));
  }
  bool told() const { return told_; }
  Value get() { return promise_.get_future().get(); }  // once

 private:
  std::promise<Value> promise_;
  bool told_ = false;  // of the telling thread
};

class Supply final {
 public:
  using Hold = std::shared_ptr<const void>;
  using Ready = std::function<void(Hold)>;

  struct Outlets {
    std::function<void(wire::Message)> send;  // to the pool, where there is one
    std::function<void(const Error&)> failed;
    std::function<void()> limits_changed;  // ask add_limits() again
  };

  // `carried_count_max`: of how many leases carried samples are kept; what is older belongs to
  // leases that were dropped.
  Supply(asio::io_context& io, std::shared_ptr<data::ChunkCache> cache,
         std::size_t carried_count_max, Outlets outlets);

  // On the preparing thread. These block until the pool has answered, and throw Failure.
  data::DatasetPtr open(const engine::Job& job, const data::Recipe& recipe, const Digest& sha256);
  Hold hold_first_unit();

  // On the I/O thread, all of the rest.
  void linked();  // welcomed on a new link: asks again for what the last one did not bring
  void unlinked();
  void end();  // nothing more will come: whoever waits is told
  void received(wire::Manifest& manifest);
  void received(wire::Chunk& chunk);
  void received(wire::Samples& samples);
  template <class Lease>
  void expect(const Lease& lease);
  template <class Lease>
  void when_at_hand(const Lease& lease, Ready ready);

  // What a link must let through for it.
  void add_limits(wire::Limits& limits) const;

  std::uint64_t fetched_count() const { return fetcher_ ? fetcher_->fetched_count() : 0; }
  std::uint64_t fetched_bytes() const { return fetcher_ ? fetcher_->fetched_bytes() : 0; }

 private:
  struct Carried {
    SampleRun run;
    Hold hold;
  };

  data::DatasetPtr start(std::shared_ptr<const data::Manifest> manifest);
  data::DatasetPtr start_carried(const std::shared_ptr<const data::Manifest>& manifest);
  data::DatasetPtr start_fetching(const std::shared_ptr<const data::Manifest>& manifest);
  void expect_run(LeaseId lease, const SampleRun& run);
  void hand_over(LeaseId lease, const SampleRun& run, Ready ready);
  std::optional<std::uint64_t> foresee();

  asio::io_context& io_;
  std::shared_ptr<data::ChunkCache> cache_;
  std::size_t carried_count_max_;
  Outlets outlets_;

  engine::Job job_;
  data::Recipe recipe_;
  Digest sha256_;
  bool linked_ = false;
  bool wants_manifest_ = false;
  Answer<data::DatasetPtr> dataset_;
  Answer<Hold> first_unit_;

  std::optional<SamplePlan> plan_;  // once the manifest is here
  std::uint64_t chunk_bytes_max_ = 0;

  std::unique_ptr<ChunkFetcher> fetcher_;  // chunks
  std::unordered_set<std::uint64_t> foreseen_;
  std::vector<std::uint64_t> nearby_;  // kept for its memory
  std::optional<std::uint64_t> foreseen_from_;
  std::uint64_t foreseen_epoch_ = 0;
  std::uint64_t needed_at_ = 0;    // the position of the latest lease
  std::uint64_t foreseen_at_ = 0;  // how far foresee() has looked

  std::shared_ptr<data::CarriedSamples> carried_;  // with every lease
  std::optional<Carried> just_carried_;            // for the lease behind it
  std::deque<std::pair<LeaseId, Carried>> carried_leases_;
};

template <class Lease>
void Supply::expect(const Lease& lease) {
  if (plan_) expect_run(lease.lease, plan_->run_of(lease));
}

template <class Lease>
void Supply::when_at_hand(const Lease& lease, Ready ready) {
  if (!plan_) return ready(nullptr);
  hand_over(lease.lease, plan_->run_of(lease), std::move(ready));
}

}  // namespace wide::net
