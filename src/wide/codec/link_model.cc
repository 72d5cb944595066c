#include "wide/codec/link_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "wide/base/check.h"
#include "wide/base/median.h"

namespace wide::codec {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr auto kNoSize = std::numeric_limits<std::size_t>::max();

constexpr std::size_t kMessageBytesLeast = 1024;  // below this nobody would notice
constexpr double kSizesFading = 0.95;             // of the sizes seen, with every message

constexpr double kSizeSurprise = 1.1;  // times what was expected
constexpr std::uint32_t kSurprisesToBelieve = 3;

constexpr std::size_t kFactsKept = 9;
constexpr double kBandwidthWeight = 0.05;  // of one fact
constexpr double kBandwidthJump = 1.5;     // from here on it is another line, not noise
constexpr std::size_t kFactsToAgree = 3;   // on a jump

}  // namespace

LinkModel::LinkModel(unsigned threads, std::size_t block_bytes)
    : threads_(threads),
      block_bytes_(block_bytes),
      bytes_(static_cast<double>(block_bytes)),
      squared_bytes_(bytes_ * bytes_) {
  WIDE_CHECK(threads_ >= 1 && block_bytes_ >= kMessageBytesLeast);
}

// --- Learning ----------------------------------------------------------------------------------

void LinkModel::learn(const LinkFacts& facts) {
  rtt_ = facts.rtt;
  if (!(facts.bytes_per_second > 0) || std::isinf(facts.bytes_per_second)) return;
  if (bandwidths_.size() == kFactsKept) bandwidths_.erase(bandwidths_.begin());
  bandwidths_.push_back(facts.bytes_per_second);
  believe_bandwidth();
}

// Slowly, and never far by what one fact says; at once where most of the last ones agree that it is
// quite another.
void LinkModel::believe_bandwidth() {
  const double middle = median(bandwidths_);
  const double least = bytes_per_second_ / kBandwidthJump;
  const double most = bytes_per_second_ * kBandwidthJump;
  const bool can_agree = bandwidths_.size() >= kFactsToAgree || bytes_per_second_ == 0;
  if (can_agree && (middle < least || middle > most)) {
    bytes_per_second_ = middle;
  } else {
    const double latest = std::clamp(bandwidths_.back(), least, most);
    bytes_per_second_ += kBandwidthWeight * (latest - bytes_per_second_);
  }
}

bool LinkModel::learn(const Trial& trial, Lossless in_use) {
  if (trial.codec == Lossless::kNone || trial.raw_bytes == 0) return false;
  Known& seen = known_[static_cast<std::size_t>(trial.codec)];
  const auto raw = static_cast<double>(trial.raw_bytes);
  const double coded = trial.coded_bytes == 0 ? raw : static_cast<double>(trial.coded_bytes);

  // Code after code of another size than before: no machine's noise does that.
  const double expected = seen.coded_bytes.at(raw);
  const bool surprises = coded > kSizeSurprise * expected || expected > kSizeSurprise * coded;
  seen.surprise_count = surprises && !seen.coded_bytes.empty() ? seen.surprise_count + 1 : 0;
  const bool are_others = seen.surprise_count >= kSurprisesToBelieve;
  if (are_others) forget_sizes(trial.codec, in_use);
  seen.coded_bytes.add(raw, coded);
  seen.encode_seconds.add(raw, seconds(trial.encode));
  if (trial.decode > Duration{}) seen.decode_seconds.add(raw, seconds(trial.decode));
  return are_others;
}

void LinkModel::forget_sizes(Lossless seen, Lossless in_use) {
  for (std::size_t i = 0; i < known_.size(); ++i) {
    const auto codec = static_cast<Lossless>(i);
    if (codec == in_use && codec != seen) continue;
    known_[i].coded_bytes = {};
    known_[i].surprise_count = 0;
  }
}

void LinkModel::note_message(std::size_t raw_bytes) {
  if (raw_bytes < kMessageBytesLeast) return;  // coded by nobody
  const auto bytes = static_cast<double>(raw_bytes);
  bytes_ = kSizesFading * bytes_ + bytes;
  squared_bytes_ = kSizesFading * squared_bytes_ + bytes * bytes;
}

// --- Questions ---------------------------------------------------------------------------------

LinkModel::Stages LinkModel::stages(Lossless codec, double raw_bytes) const {
  if (codec == Lossless::kNone) return {0, raw_bytes / bytes_per_second_, 0};
  const Known& seen = known(codec);
  const CostLine& decode = seen.decode_seconds.empty() ? seen.encode_seconds : seen.decode_seconds;
  const double travel_bytes = std::min(seen.coded_bytes.at(raw_bytes), raw_bytes);
  return {seen.encode_seconds.at(raw_bytes), travel_bytes / bytes_per_second_,
          decode.at(raw_bytes)};
}

// Per byte, of all blocks but the first.
double LinkModel::pace(Lossless codec) const {
  if (bytes_per_second_ == 0) return kNever;
  if (codec != Lossless::kNone && known(codec).coded_bytes.empty()) return kNever;
  const auto block = static_cast<double>(block_bytes_);
  const Stages block_seconds = stages(codec, block);
  const double coding = std::max(block_seconds.encode, block_seconds.decode) / threads_;
  return std::max(coding, block_seconds.travel) / block;
}

double LinkModel::message_seconds(Lossless codec, std::size_t raw_bytes) const {
  const double per_byte = pace(codec);
  if (per_byte == kNever) return kNever;
  const std::size_t first_bytes = std::min(raw_bytes, block_bytes_);
  const Stages first = stages(codec, static_cast<double>(first_bytes));
  return first.encode + first.travel + first.decode +
         static_cast<double>(raw_bytes - first_bytes) * per_byte;
}

double LinkModel::seconds_per_byte(Lossless codec) const {
  const double usual = squared_bytes_ / bytes_;
  return message_seconds(codec, static_cast<std::size_t>(usual)) / usual;
}

double LinkModel::coding_seconds(Lossless codec, std::size_t raw_bytes) const {
  const Stages block_seconds = stages(codec, static_cast<double>(raw_bytes));
  return block_seconds.encode + block_seconds.decode;
}

// What is saved is, over the size, two straight lines that meet at one block.
std::size_t LinkModel::worthwhile_bytes(Lossless codec, double noticed) const {
  if (message_seconds(codec, block_bytes_) == kNever) return kNoSize;
  const auto saved = [&](std::size_t bytes) {
    const double plain = message_seconds(Lossless::kNone, bytes);
    return plain - message_seconds(codec, bytes) - noticed * (plain + seconds(rtt_) / 2);
  };
  const auto block = static_cast<double>(block_bytes_);
  const double at_least = saved(kMessageBytesLeast);
  const double at_block = saved(block_bytes_);
  if (at_least >= 0 && at_block >= 0) return kMessageBytesLeast;
  if (at_block >= 0) {
    const double share = at_least / (at_least - at_block);
    return kMessageBytesLeast + static_cast<std::size_t>(share * (block - kMessageBytesLeast));
  }
  const double per_block = saved(2 * block_bytes_) - at_block;
  const double blocks = 1 - at_block / per_block;
  if (per_block <= 0 || blocks > 1e6) return kNoSize;
  return static_cast<std::size_t>(blocks * block);
}

}  // namespace wide::codec
