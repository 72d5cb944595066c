#pragma once
// Which lossless codec a link should use in one direction: the one by which messages arrive
// soonest, by what was measured there (link_model.h). "None" is always a candidate, and is where
// every link begins and stays until its bandwidth is known.
//
// What a codec does to the bytes at hand (size, time; both with a fixed part) is found by trying it
// on some of a real message now and then: trial() says which to try next, within a share of the
// time that has passed. The further a codec is from being worth it, the longer until it is tried
// again; but if the bytes become others, as the sizes of their codes tell, all begin anew.
//
// A change must promise a good deal less time, and the sooner it comes after another the more it
// has to wait: a line whose measurements jump about does not make the codec jump.
//
// A state machine without I/O or clock. One per link and direction.

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "wide/base/clock.h"
#include "wide/codec/link_model.h"
#include "wide/codec/lossless.h"

namespace wide::codec {

// Try `codec` on so many bytes of the message at hand.
struct TrialWish {
  Lossless codec = Lossless::kNone;
  std::size_t raw_bytes = 0;
};

// A change, with its reason in words: "71.2 ms instead of 85.5 ms per MB at 11.7 MB/s".
struct Change {
  Lossless from = Lossless::kNone;
  Lossless to = Lossless::kNone;
  std::string reason;
};

struct ChoiceOptions {
  double trial_share = 0.005;  // of all time, at most, goes to trials
  double gain_least = 0.05;    // a change must promise so much less time: hysteresis
  unsigned threads = 1;        // that code blocks side by side
  std::size_t block_bytes = kBlockBytesMax;
};

class Choice final {
 public:
  explicit Choice(ChoiceOptions options = {});

  // Before a message of `raw_bytes` goes out: what to code it with. Below threshold_bytes(): none.
  Lossless choose(std::size_t raw_bytes) const;

  // What to try on the message at hand, if it is time for it; asked once for every message, since
  // their sizes count. learn() is told how it went.
  std::optional<TrialWish> trial(std::size_t raw_bytes, Time now);
  // The same once a trial has ended and the message is still on its way: on a slow line one message
  // is enough to know all codecs.
  std::optional<TrialWish> another_trial(std::size_t raw_bytes, Time now);

  void trial_refused() { under_way_.reset(); }  // there was no time for it

  // What was seen, in trials and in earnest; each may change the choice.
  std::optional<Change> learn(const Trial& trial, Time now);
  std::optional<Change> learn(const LinkFacts& facts, Time now);

  Lossless codec() const { return codec_; }
  std::size_t threshold_bytes() const { return threshold_bytes_; }
  const LinkModel& model() const { return model_; }
  Duration spent_on_trials() const { return spent_; }

 private:
  struct Tried {
    std::uint32_t count = 0;
    Time last{};
  };

  Tried& tried(Lossless codec) { return tried_[static_cast<std::size_t>(codec)]; }
  const Tried& tried(Lossless codec) const { return tried_[static_cast<std::size_t>(codec)]; }

  bool is_candidate(Lossless codec) const;
  bool is_due(Lossless codec, Time now) const;
  double trial_seconds(Lossless codec, std::size_t raw_bytes) const;

  Lossless best() const;
  bool is_worth_changing_to(Lossless to, Time now) const;
  std::optional<Change> decide(Time now);

  ChoiceOptions options_;
  LinkModel model_;
  Lossless codec_ = Lossless::kNone;
  std::size_t threshold_bytes_;
  Time changed_{};
  Duration patience_{};  // no other change until so long after the last

  std::array<Tried, kLosslessCount> tried_;
  std::optional<Lossless> under_way_;  // a trial that was asked for
  Time asked_{};
  std::optional<Time> began_;
  Duration spent_{};
};

}  // namespace wide::codec
