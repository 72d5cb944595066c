#pragma once
// gradient = "auto", update = "auto": which lossy codecs the next steps use, by what was measured.
//
//   step(up, down) = compute + lag × bytes(up, down) ÷ bytes(now)
//
// Lag is what leases take beyond their computing: the links at work, as they are shared. Of the
// codecs within the budget the mildest is chosen that leaves the links a tenth of the computing, or
// else the one that makes the step shortest; "none" is always a candidate. A change must promise
// something, and waits until the last one has shown.
//
// What a codec loses is measured on the mean of a step, on a part of it: the square of what is lost
// over the square of what is there. Decisions are written in the ledger with each step, so a replay
// repeats them; another run may decide otherwise, so such a run is not reproducible.
//
// Pure: no clock, no random device.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "wide/codec/lossy.h"
#include "wide/engine/job.h"

namespace wide::engine {

// Means over the nodes at work, of one step each.
struct StepCosts {
  double compute_seconds = 0;
  double lag_seconds = 0;
};

// Bytes that one node sends or receives in a step, by codec; 0: not to be had.
using BytesByCodec = std::array<std::uint64_t, codec::kLossyCount>;

struct LossyPair {
  codec::Lossy gradient = codec::Lossy::kNone;
  codec::Lossy update = codec::Lossy::kNone;

  friend bool operator==(const LossyPair&, const LossyPair&) = default;
};

struct LossyDecision {
  LossyPair pair;
  std::string reason;  // "22 ms instead of 61 ms per step; int8 loses 0.004 %"
};

class LossyChoice final {
 public:
  // `up` and `down` have a value for every codec that is a candidate in that direction.
  LossyChoice(const Coding& plan, const BytesByCodec& up, const BytesByCodec& down);

  // At a step boundary, with the mean of the step that was committed.
  std::optional<LossyDecision> decide(std::uint64_t step, std::span<const float> mean,
                                      const StepCosts& costs);

  const LossyPair& pair() const { return pair_; }

 private:
  void measure_losses(std::uint64_t step, std::span<const float> mean);
  bool allowed(bool automatic, codec::Lossy codec, const BytesByCodec& bytes) const;
  double seconds(const LossyPair& pair, const StepCosts& costs) const;
  LossyPair best(const StepCosts& costs) const;

  double budget_;
  bool gradient_auto_;
  bool update_auto_;
  BytesByCodec up_;
  BytesByCodec down_;
  LossyPair pair_;
  std::array<double, codec::kLossyCount> losses_{};
  std::uint32_t steps_since_change_ = 0;
  bool measured_ = false;
};

// The square of what `codec` loses of these values, over their own square.
double relative_loss(codec::Lossy codec, std::span<const float> values,
                     const codec::Rounding& rounding);

}  // namespace wide::engine
