#include "wide/net/supply.h"

#include <fmt/format.h>

#include <algorithm>

#include <asio/post.hpp>

namespace wide::net {

namespace {

constexpr std::uint64_t kForeseePerCall = 4096;  // positions: about a fifth of a millisecond

}  // namespace

Supply::Supply(asio::io_context& io, std::shared_ptr<data::ChunkCache> cache,
               std::size_t carried_count_max, Outlets outlets)
    : io_(io),
      cache_(std::move(cache)),
      carried_count_max_(carried_count_max),
      outlets_(std::move(outlets)) {}

// On the preparing thread.

data::DatasetPtr Supply::open(const engine::Job& job, const data::Recipe& recipe,
                              const Digest& sha256) {
  asio::post(io_, [this, job, recipe, sha256] {
    job_ = job;
    recipe_ = recipe;
    sha256_ = sha256;
    wants_manifest_ = true;
    if (linked_) outlets_.send(wire::WantSamples{});
  });
  return dataset_.get();
}

Supply::Hold Supply::hold_first_unit() {
  asio::post(io_, [this] {
    if (!fetcher_) return;  // it comes by itself, behind the manifest
    fetcher_->want(plan_->chunks_of(plan_->first_unit()),
                   [this](Hold hold) { first_unit_.tell(std::move(hold)); });
  });
  return first_unit_.get();
}

// On the I/O thread.

// At once and not later: the next message may be samples, which need the plan and its limits.
void Supply::received(wire::Manifest& manifest) {
  if (!std::exchange(wants_manifest_, false)) return;
  try {
    auto found = value_or_throw(data::decode_manifest(manifest.bytes.joined()));
    if (found.space.sha256 != sha256_) {
      throw Failure(Errc::kSamplesDiffer, "the manifest that the pool sent is not the job's");
    }
    dataset_.tell(start(std::make_shared<const data::Manifest>(std::move(found))));
  } catch (const Failure& failure) {
    dataset_.refuse(failure.error());
  }
}

data::DatasetPtr Supply::start(std::shared_ptr<const data::Manifest> manifest) {
  value_or_throw(engine::validate_fit(job_, manifest->space));
  const bool carried = job_.samples.ship == engine::Ship::kAlways;
  auto dataset = carried ? start_carried(manifest) : start_fetching(manifest);
  plan_.emplace(job_, std::move(manifest));
  outlets_.limits_changed();
  if (fetcher_ && linked_) fetcher_->linked();
  return dataset;
}

data::DatasetPtr Supply::start_carried(const std::shared_ptr<const data::Manifest>& manifest) {
  carried_ = value_or_throw(data::make_carried(recipe_, manifest));
  return carried_;
}

data::DatasetPtr Supply::start_fetching(const std::shared_ptr<const data::Manifest>& manifest) {
  for (std::uint64_t i = 0; i < manifest->chunks.size(); ++i) {
    chunk_bytes_max_ = std::max(chunk_bytes_max_, data::chunk_bytes(*manifest, i));
  }
  auto shelf = std::make_shared<data::ChunkShelf>(manifest, cache_, data::ChunkShelf::Options{});
  auto dataset = value_or_throw(data::make_shipped(recipe_, shelf));
  ChunkFetcher::Outlets outlets;
  outlets.send = [this](wire::Fetch fetch) { outlets_.send(std::move(fetch)); };
  outlets.failed = outlets_.failed;
  outlets.foresee = [this] { return foresee(); };
  fetcher_ = std::make_unique<ChunkFetcher>(io_, std::move(shelf), std::move(outlets));
  return dataset;
}

void Supply::linked() {
  linked_ = true;
  const bool wants_first_unit = carried_ && !first_unit_.told();
  if (wants_manifest_ || wants_first_unit) outlets_.send(wire::WantSamples{});
  if (fetcher_) fetcher_->linked();
}

void Supply::unlinked() {
  linked_ = false;
  just_carried_.reset();
  carried_leases_.clear();
  if (fetcher_) fetcher_->unlinked();
}

void Supply::end() {
  const Error left{Errc::kLinkLost, "the node left before its samples were here"};
  dataset_.refuse(left);
  first_unit_.refuse(left);
}

void Supply::received(wire::Chunk& chunk) {
  if (fetcher_) fetcher_->arrived(std::move(chunk));
}

void Supply::received(wire::Samples& samples) {
  if (!carried_) return;
  const SampleRun run{samples.held_out, samples.first, samples.count};
  const auto& space = carried_->space();
  const std::uint64_t most = run.held_out ? space.eval_count : job_.samples_per_step();
  const bool fits = run.count <= most && (!run.held_out || run.first <= most - run.count);
  auto hold = fits ? carried_->hold(run.held_out, plan_->indices_of(run), samples.records.owner,
                                    samples.records.joined())
                   : Result<Hold>(fail(Errc::kBadFrame, "samples of a lease that cannot be"));
  if (!hold) return outlets_.failed(hold.error());
  just_carried_ = Carried{run, std::move(*hold)};
  if (run == plan_->first_unit()) first_unit_.tell(just_carried_->hold);
}

void Supply::expect_run(LeaseId lease, const SampleRun& run) {
  if (carried_ && just_carried_) {
    carried_leases_.emplace_back(lease, *std::exchange(just_carried_, std::nullopt));
    if (carried_leases_.size() > carried_count_max_) carried_leases_.pop_front();
  }
  if (!fetcher_) return;
  if (!run.held_out) needed_at_ = std::max(needed_at_, run.first);
  fetcher_->expect(plan_->chunks_of(run));
  fetcher_->fetch_ahead();
}

void Supply::hand_over(LeaseId lease, const SampleRun& run, Ready ready) {
  if (fetcher_) return fetcher_->want(plan_->chunks_of(run), std::move(ready));
  const auto found =
      std::ranges::find(carried_leases_, lease, [](const auto& e) { return e.first; });
  if (found == carried_leases_.end() || found->second.run != run) {
    return outlets_.failed({Errc::kUnexpectedMessage, "a lease came without its samples"});
  }
  Hold hold = std::move(found->second.hold);
  carried_leases_.erase(found);
  ready(std::move(hold));
}

// Chunks in the order in which training will want them, each once: all of them for a set that is
// shuffled as one, else as far as the window reaches, and anew in every epoch.
std::optional<std::uint64_t> Supply::foresee() {
  const std::uint64_t epoch_samples = plan_->manifest().space.train_count;
  if (!foreseen_from_) foreseen_from_ = foreseen_at_ = needed_at_;
  foreseen_at_ = std::max(foreseen_at_, needed_at_);
  for (std::uint64_t i = 0; i < kForeseePerCall; ++i) {
    const bool all = plan_->whole() && foreseen_at_ >= *foreseen_from_ + epoch_samples;
    if (all || foreseen_at_ >= needed_at_ + plan_->samples_ahead()) return std::nullopt;
    const std::uint64_t epoch = foreseen_at_ / epoch_samples;
    if (!plan_->whole() && std::exchange(foreseen_epoch_, epoch) != epoch) foreseen_.clear();
    nearby_.clear();
    plan_->add_chunks_at(foreseen_at_, nearby_);
    for (const auto chunk : nearby_) {
      if (foreseen_.insert(chunk).second) return chunk;
    }
    ++foreseen_at_;
  }
  return std::nullopt;
}

// With every lease come one block's samples, or one unit's of evaluation.
void Supply::add_limits(wire::Limits& limits) const {
  limits.chunk_bytes_max = chunk_bytes_max_;
  limits.sample_bytes_max = 0;
  if (!carried_) return;
  const std::uint64_t block = std::uint64_t{job_.train.batch} * job_.train.block_units;
  limits.sample_bytes_max =
      std::max<std::uint64_t>(block, job_.eval.batch) * carried_->space().carried_bytes;
}

}  // namespace wide::net
