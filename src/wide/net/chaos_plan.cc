#include "wide/net/chaos_plan.h"

#include <algorithm>
#include <cmath>

#include "wide/base/check.h"

namespace wide::net {

namespace {

constexpr std::uint32_t kPurpose = 0x43484153;  // "CHAS": keeps these numbers apart from others
constexpr std::uint32_t kJitterPurpose = kPurpose + kFaultCount;
constexpr auto kPiecesPerSecond = 50;  // a rate is kept in steps of so fine a time

std::uint64_t nanoseconds(Duration span) { return static_cast<std::uint64_t>(span.count()); }

}  // namespace

std::string_view plural(Fault fault) {
  constexpr std::array<std::string_view, kFaultCount> kWords = {
      "flips", "duplicates", "truncations", "half_closes", "resets", "stalls"};
  return kWords[static_cast<std::size_t>(fault)];
}

bool ends_stream(Fault fault) {
  return fault == Fault::kTruncate || fault == Fault::kHalfClose || fault == Fault::kReset;
}

FaultTrack::FaultTrack(Fault fault, std::uint64_t every, const ChaosOptions& options,
                       std::uint64_t connection, Direction direction)
    : every_(every),
      draws_(options.seed, kPurpose + static_cast<std::uint32_t>(fault), connection,
             static_cast<std::uint32_t>(direction)) {
  if (active()) advance(0);
}

void FaultTrack::advance(std::uint64_t from) {
  const double share = 1.0 - static_cast<double>(draws_.uniform(2 * drawn_++));  // in (0, 1]
  at_ = from + static_cast<std::uint64_t>(-std::log(share) * static_cast<double>(every_));
}

std::uint32_t FaultTrack::dice() const { return draws_.word(2 * drawn_ - 1); }

ChaosPlan::ChaosPlan(const ChaosOptions& options, std::uint64_t connection, Direction direction,
                     Time opened)
    : options_(options),
      opened_(opened),
      jitters_(options.seed, kJitterPurpose, connection, static_cast<std::uint32_t>(direction)),
      flips_(Fault::kFlip, options.flip_every_bytes, options, connection, direction),
      repeats_(Fault::kDuplicate, options.duplicate_every_bytes, options, connection, direction),
      stalls_(Fault::kStall, nanoseconds(options.stall_every), options, connection, direction),
      endings_{
          FaultTrack(Fault::kTruncate, options.truncate_every_bytes, options, connection,
                     direction),
          FaultTrack(Fault::kHalfClose, options.half_close_every_bytes, options, connection,
                     direction),
          FaultTrack(Fault::kReset, options.reset_every_bytes, options, connection, direction)} {}

ChaosBatch ChaosPlan::take(std::span<const std::byte> bytes, Time arrived) {
  WIDE_CHECK(!ended_, "a stream that has ended takes no more");
  const Duration jitter = jitter_here();
  ChaosBatch batch;
  batch.bytes.reserve(bytes.size());
  harm(bytes, batch);
  pace(arrived, jitter, batch);
  return batch;
}

// From stop to stop: a byte to flip, a run to repeat, the end.
void ChaosPlan::harm(std::span<const std::byte> bytes, ChaosBatch& batch) {
  while (!ended_ && !bytes.empty()) {
    const auto count = static_cast<std::size_t>(next_stop(position_ + bytes.size()) - position_);
    pass(bytes.first(count), batch);
    bytes = bytes.subspan(count);
    end(batch);
    if (ended_ || bytes.empty()) return;
    if (repeats_.active() && repeats_.at() == position_) repeat(batch);
    if (!flips_.active() || flips_.at() != position_) continue;
    const std::byte turned = bytes[0] ^ static_cast<std::byte>(1u << (flips_.dice() % 8));
    pass({&turned, 1}, batch);
    bytes = bytes.subspan(1);
    batch.marks.push_back({batch.bytes.size(), Fault::kFlip});
    flips_.advance(position_);
  }
}

std::uint64_t ChaosPlan::next_stop(std::uint64_t limit) const {
  std::uint64_t stop = limit;
  for (const FaultTrack* track : {&flips_, &repeats_, &endings_[0], &endings_[1], &endings_[2]}) {
    if (track->active()) stop = std::min(stop, track->at());
  }
  return stop;
}

void ChaosPlan::pass(std::span<const std::byte> bytes, ChaosBatch& batch) {
  batch.bytes.insert(batch.bytes.end(), bytes.begin(), bytes.end());
  position_ += bytes.size();
  if (!repeats_.active()) return;
  const auto kept = bytes.last(std::min(bytes.size(), kRepeatedBytesMax));
  recent_.insert(recent_.end(), kept.begin(), kept.end());
  if (recent_.size() > kRepeatedBytesMax) {
    recent_.erase(recent_.begin(), recent_.end() - kRepeatedBytesMax);
  }
}

void ChaosPlan::repeat(ChaosBatch& batch) {
  if (!recent_.empty()) {
    const std::size_t count = 1 + repeats_.dice() % recent_.size();
    batch.bytes.insert(batch.bytes.end(), recent_.end() - static_cast<std::ptrdiff_t>(count),
                       recent_.end());
    batch.marks.push_back({batch.bytes.size(), Fault::kDuplicate});
  }
  repeats_.advance(position_ + 1);
}

void ChaosPlan::end(ChaosBatch& batch) {
  constexpr std::array kKinds = {Fault::kTruncate, Fault::kHalfClose, Fault::kReset};
  for (std::size_t i = 0; i < endings_.size() && !ended_; ++i) {
    if (!endings_[i].active() || endings_[i].at() > position_) continue;
    batch.marks.push_back({batch.bytes.size(), kKinds[i]});
    ended_ = true;
  }
}

// The same offset has the same jitter in every run.
Duration ChaosPlan::jitter_here() const {
  constexpr std::uint64_t kWords = std::uint64_t{1} << 34;
  const double share = static_cast<double>(jitters_.uniform(position_ % kWords));
  return Duration(static_cast<Duration::rep>(share * static_cast<double>(options_.jitter.count())));
}

std::size_t ChaosPlan::piece_bytes_max() const {
  std::size_t most = SIZE_MAX;
  if (options_.chunk_bytes != 0) most = options_.chunk_bytes;
  if (options_.rate_bytes != 0) {
    most = std::min(most, std::max<std::size_t>(1, options_.rate_bytes / kPiecesPerSecond));
  }
  return most;
}

void ChaosPlan::pace(Time arrived, Duration jitter, ChaosBatch& batch) {
  due_ = std::max(due_, arrived + options_.delay + jitter);
  std::vector<ChaosBatch::Mark> stalls;
  std::size_t begin = 0;
  do {
    const std::size_t count = std::min(piece_bytes_max(), batch.bytes.size() - begin);
    due_ = after_stalls(std::max(due_, free_), begin, stalls);
    batch.pieces.push_back({begin + count, due_});
    if (options_.rate_bytes != 0) {
      free_ = due_ + Duration(static_cast<Duration::rep>(1e9 * static_cast<double>(count) /
                                                         static_cast<double>(options_.rate_bytes)));
    }
    begin += count;
  } while (begin < batch.bytes.size());
  const auto first = batch.marks.insert(batch.marks.begin(), stalls.begin(), stalls.end());
  std::inplace_merge(first, first + static_cast<std::ptrdiff_t>(stalls.size()), batch.marks.end(),
                     [](const auto& a, const auto& b) { return a.at < b.at; });
}

// A stall counts where it held something back; those of an idle stream pass unseen.
Time ChaosPlan::after_stalls(Time due, std::size_t at, std::vector<ChaosBatch::Mark>& stalls) {
  while (stalls_.active() && opened_ + Duration(stalls_.at()) <= due) {
    const Time end = opened_ + Duration(stalls_.at()) + options_.stall_span;
    stalls_.advance(nanoseconds(end - opened_));
    if (end <= due) continue;
    stalls.push_back({at, Fault::kStall});
    due = end;
  }
  return due;
}

}  // namespace wide::net
