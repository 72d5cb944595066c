#include "wide/net/lender.h"

#include <algorithm>
#include <memory>

#include "wide/base/check.h"

namespace wide::net {

namespace {

constexpr std::size_t kServedLinksMax = 4;
// A link that takes longer than this over one chunk is slow by itself; it keeps nobody waiting.
constexpr Duration kTurnMax = std::chrono::seconds(1);
constexpr int kRestPerWork = 11;  // while somebody trains

wire::SharedPacket packed(wire::Message message) {
  return std::make_shared<const wire::Packet>(wire::encode(std::move(message)));
}

}  // namespace

Lender::Lender(data::DatasetPtr samples, const engine::Job& job) : samples_(std::move(samples)) {
  if (samples_ && samples_->library() == nullptr) samples_.reset();
  if (samples_) order_.emplace(job, samples_->space());
}

wire::SharedPacket Lender::manifest() {
  WIDE_CHECK(samples_, "the engine lets nobody ask where there is nothing");
  if (!manifest_) {
    const auto bytes = std::make_shared<const std::vector<std::byte>>(
        data::encode_manifest(samples_->library()->manifest()));
    manifest_ = packed(wire::Manifest{{bytes, {*bytes}}});
  }
  return manifest_;
}

wire::SharedPacket Lender::samples(const engine::SendSamples& wanted) const {
  WIDE_CHECK(samples_, "the engine lets nobody ask where there is nothing");
  const auto& library = *samples_->library();
  Bytes records{samples_, {}};
  for (std::uint64_t i = wanted.first; i < wanted.first + wanted.count; ++i) {
    if (wanted.held_out) {
      library.add_eval_record(i, records.runs);
    } else {
      library.add_train_record(order_->sample_at(i), records.runs);
    }
  }
  return packed(wire::Samples{wanted.held_out, wanted.first, wanted.count, std::move(records)});
}

wire::SharedPacket Lender::chunk(std::uint64_t chunk) const {
  return packed(wire::Chunk{chunk, {samples_, {samples_->library()->chunk(chunk)}}});
}

void Lender::ask(LinkId link, std::uint64_t chunk) {
  WIDE_CHECK(samples_, "the engine lets nobody ask where there is nothing");
  samples_->library()->announce(chunk);
  auto& asked = asked_[link];
  if (asked.empty() && !served_.contains(link)) turns_.push_back(link);
  asked.push_back(chunk);
}

void Lender::forget(LinkId link) {
  asked_.erase(link);
  served_.erase(link);
  std::erase(turns_, link);
}

std::size_t Lender::served_count(Time now) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      served_, [&](const auto& served) { return now - served.second < kTurnMax; }));
}

std::optional<Lender::Turn> Lender::next(Time now, bool training) {
  if (turns_.empty() || (training && now < rests_until_)) return std::nullopt;
  if (served_count(now) >= kServedLinksMax) return std::nullopt;
  const LinkId link = turns_.front();
  turns_.pop_front();
  auto& asked = asked_.at(link);
  const Turn turn{link, asked.front()};
  asked.pop_front();
  served_[link] = now;
  return turn;
}

void Lender::sent(LinkId link, Duration spent, Time now, bool training) {
  if (served_.erase(link) == 0) return;  // forgotten meanwhile, or it was no chunk that was sent
  if (training) rests_until_ = std::max(rests_until_, now) + spent * kRestPerWork;
  const auto asked = asked_.find(link);
  if (asked == asked_.end()) return;
  if (asked->second.empty()) {
    asked_.erase(asked);
  } else {
    turns_.push_back(link);
  }
}

std::optional<Time> Lender::due(Time now) const {
  if (turns_.empty()) return std::nullopt;
  if (served_count(now) < kServedLinksMax) return std::max(now, rests_until_);
  Time oldest = now;
  for (const auto& [link, since] : served_) {
    if (now - since < kTurnMax) oldest = std::min(oldest, since);
  }
  return std::max(oldest + kTurnMax, rests_until_);
}

}  // namespace wide::net
