#include "wide/codec/choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace wide::codec {

namespace {

// In the order in which they are first tried.
constexpr Lossless kCoders[] = {Lossless::kPlanes, Lossless::kLz4, Lossless::kZstd, Lossless::kZlib,
                                Lossless::kZlib9};

constexpr double kNoticed = 0.01;  // of the time a message takes

constexpr std::size_t kTrialBytesLeast = 4096;
constexpr std::size_t kTrialBytes = 64 << 10;
constexpr std::uint32_t kTrialsToJudge = 3;  // the first one finds every cache cold
constexpr Duration kTrialInterval = std::chrono::seconds(5);
constexpr double kIntervalGrowthMost = 24;  // two minutes
constexpr Duration kAnswerMost = std::chrono::seconds(10);

// After a change; twice as long after each, until one has lasted.
constexpr Duration kPatienceLeast = std::chrono::seconds(1);
constexpr Duration kPatienceMost = std::chrono::seconds(60);
constexpr Duration kLasted = std::chrono::minutes(10);

// zlib9 takes a processor that could train; only below 20 Mbit/s is there time enough for it.
constexpr double kSlowLineBytesPerSecond = 2.5e6;

// Before anything is known of a codec: slower than it is anywhere, so that trials keep their share.
double presumed_bytes_per_second(Lossless codec) {
  switch (codec) {
    case Lossless::kZlib:
      return 10e6;
    case Lossless::kZlib9:
      return 1e6;
    default:
      return 100e6;
  }
}

std::string reason_for(double from, double to, double bytes_per_second) {
  constexpr double kMegabyte = 1e6;
  return fmt::format("{:.3g} ms instead of {:.3g} ms per MB at {:.3g} MB/s", to * kMegabyte * 1e3,
                     from * kMegabyte * 1e3, bytes_per_second / kMegabyte);
}

}  // namespace

Choice::Choice(ChoiceOptions options)
    : options_(options),
      model_(options.threads, options.block_bytes),
      threshold_bytes_(std::numeric_limits<std::size_t>::max()) {}

Lossless Choice::choose(std::size_t raw_bytes) const {
  return raw_bytes < threshold_bytes_ ? Lossless::kNone : codec_;
}

// --- Trials ------------------------------------------------------------------------------------

bool Choice::is_candidate(Lossless codec) const {
  return codec != Lossless::kZlib9 || model_.bytes_per_second() < kSlowLineBytesPerSecond;
}

// One that takes twice the time of the best waits 16 times as long.
bool Choice::is_due(Lossless codec, Time now) const {
  if (tried(codec).count < kTrialsToJudge || model_.is_surprised_by(codec)) return true;
  const double times = model_.seconds_per_byte(codec) / model_.seconds_per_byte(best());
  const double growth = std::clamp(std::pow(times, 4), 1.0, kIntervalGrowthMost);
  return seconds(now - tried(codec).last) >= growth * seconds(kTrialInterval);
}

// More than it should take: it may take longer than ever.
double Choice::trial_seconds(Lossless codec, std::size_t raw_bytes) const {
  if (model_.has_coded(codec)) return 2 * model_.coding_seconds(codec, raw_bytes);
  return 2 * static_cast<double>(raw_bytes) / presumed_bytes_per_second(codec);
}

std::optional<TrialWish> Choice::trial(std::size_t raw_bytes, Time now) {
  model_.note_message(raw_bytes);
  return another_trial(raw_bytes, now);
}

std::optional<TrialWish> Choice::another_trial(std::size_t raw_bytes, Time now) {
  if (!began_) began_ = now;
  if (under_way_ && now - asked_ < kAnswerMost) return std::nullopt;
  if (model_.bytes_per_second() == 0 || raw_bytes < kTrialBytesLeast) return std::nullopt;

  const double left = options_.trial_share * seconds(now - *began_) - seconds(spent_);
  std::optional<TrialWish> wish;
  for (const Lossless codec : kCoders) {
    // What the message is coded with anyway is seen in earnest.
    if (codec == choose(raw_bytes) || !is_candidate(codec) || !is_due(codec, now)) continue;
    // A small one among the large: what is fixed shows there.
    const bool small = tried(codec).count % kTrialsToJudge == 1;
    const std::size_t bytes = std::min(raw_bytes, small ? kTrialBytesLeast : kTrialBytes);
    if (trial_seconds(codec, bytes) > left) continue;
    if (!wish || tried(codec).count < tried(wish->codec).count) wish = {codec, bytes};
  }
  if (wish) {
    under_way_ = wish->codec;
    asked_ = now;
    tried(wish->codec).last = now;
  }
  return wish;
}

// --- Learning ----------------------------------------------------------------------------------

std::optional<Change> Choice::learn(const Trial& trial, Time now) {
  if (!began_) began_ = now;
  if (under_way_ == trial.codec) {
    under_way_.reset();
    spent_ += trial.encode + trial.decode;
    ++tried(trial.codec).count;
  }
  if (model_.learn(trial, codec_)) {
    for (const Lossless codec : kCoders) {
      if (codec != codec_) tried(codec).count = 0;  // nothing is known of them now
    }
  }
  return decide(now);
}

std::optional<Change> Choice::learn(const LinkFacts& facts, Time now) {
  if (!began_) began_ = now;
  model_.learn(facts);
  return decide(now);
}

// --- The decision ------------------------------------------------------------------------------

// Of those that can be judged; none where it is as good.
Lossless Choice::best() const {
  Lossless best = Lossless::kNone;
  for (const Lossless codec : kCoders) {
    if (!is_candidate(codec) || tried(codec).count < kTrialsToJudge) continue;
    if (model_.seconds_per_byte(codec) < model_.seconds_per_byte(best)) best = codec;
  }
  return best;
}

std::optional<Change> Choice::decide(Time now) {
  if (model_.bytes_per_second() == 0) return std::nullopt;
  const Lossless to = best();
  std::optional<Change> change;
  if (to != codec_ && is_worth_changing_to(to, now)) {
    change = Change{codec_, to,
                    reason_for(model_.seconds_per_byte(codec_), model_.seconds_per_byte(to),
                               model_.bytes_per_second())};
    const bool lasted = now - changed_ >= kLasted;
    patience_ = lasted ? kPatienceLeast : std::clamp(2 * patience_, kPatienceLeast, kPatienceMost);
    changed_ = now;
    codec_ = to;
  }
  threshold_bytes_ = codec_ == Lossless::kNone ? std::numeric_limits<std::size_t>::max()
                                               : model_.worthwhile_bytes(codec_, kNoticed);
  return change;
}

// Back to none at a small loss already: who codes should not be slower than who does not. Until
// patience allows, the threshold sees to that.
bool Choice::is_worth_changing_to(Lossless to, Time now) const {
  if (!is_candidate(codec_)) return true;
  if (now - changed_ < patience_) return false;
  const double gain_least = to == Lossless::kNone ? kNoticed : options_.gain_least;
  return model_.seconds_per_byte(to) <= (1 - gain_least) * model_.seconds_per_byte(codec_);
}

}  // namespace wide::codec
