#pragma once
// Which sample stands at a position of the endless sequence that training walks: epoch after
// epoch, every sample once in each, in an order that is a pure function of (seed, epoch,
// position). A small Feistel network permutes the next power of four; values outside the set walk
// on until they fall inside: four tries at most on average. Constant memory, no state.
//
// Sets too large for a node's cache are walked in windows: the chunks of the set are shuffled, cut
// into windows of so many, and samples are shuffled within each. A lease then touches the chunks of
// one window, and all of them are done with when it ends.
//
//   epoch   [ window 0: chunks 7 2 9 ][ window 1: chunks 4 0 5 ]…[ last: chunks 3 8, the tail ]
//
// The tail, what is left where the set is no whole number of chunks, belongs to the last window. A
// window that takes in every chunk is no window: the order is then the one without.

#include <cstdint>

#include "wide/base/sample_space.h"
#include "wide/engine/job.h"

namespace wide::engine {

// How samples are shuffled: so many chunks of so many samples at a time; 0 chunks: all at once.
struct ShuffleWindow {
  std::uint64_t chunk_samples = 0;
  std::uint64_t window_chunks = 0;
};

// The job's own [data] window_chunks; where it names none: everything at once for sets of up to
// kWholeChunks chunks of samples, windows of kWindowChunks for larger ones.
inline constexpr std::uint64_t kWholeChunks = 1024;
inline constexpr std::uint64_t kWindowChunks = 256;
ShuffleWindow window_of(const Job& job, const SampleSpace& space);

class SampleOrder final {
 public:
  SampleOrder(std::uint64_t seed, std::uint64_t sample_count, ShuffleWindow window = {});
  SampleOrder(const Job& job, const SampleSpace& space);

  // Positions run on across epochs: epoch = position / sample_count.
  std::uint64_t sample_at(std::uint64_t position) const;

 private:
  std::uint64_t sample_in_window(std::uint64_t place, std::uint64_t epoch_key) const;
  std::uint64_t permuted(std::uint64_t value, std::uint64_t count, std::uint64_t key) const;

  std::uint64_t seed_key_;
  std::uint64_t sample_count_;
  ShuffleWindow window_;
  std::uint64_t chunk_count_ = 0;     // full ones
  std::uint64_t window_samples_ = 0;  // of all windows but the last; 0: one shuffle of everything
  std::uint64_t last_window_ = 0;
};

}  // namespace wide::engine
