#pragma once
// What a bad network does to one direction of one connection: which bytes it harms, when it lets
// them through, where it breaks off. Pure: bytes and the time of their arrival go in, bytes and the
// times to send them come out.
//
//   where   faults stand at byte offsets of the stream, drawn from (seed, connection, direction)
//           alone: the same stream is harmed the same way however TCP cuts it into reads
//   when    delay and jitter, then stalls, then the rate; order is always kept
//
// A stream that has ended (truncate, half-close, reset) takes no more: ended().

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "wide/base/clock.h"
#include "wide/base/philox.h"

namespace wide::net {

enum class Fault : std::uint8_t {
  kFlip,       // one bit is turned over
  kDuplicate,  // up to kRepeatedBytesMax bytes come twice
  kTruncate,   // both directions end with a FIN, in the middle of things
  kHalfClose,  // this direction ends with a FIN; the other one goes on
  kReset,      // both ends see a reset
  kStall,      // nothing passes for a while
};
inline constexpr std::size_t kFaultCount = 6;
inline constexpr std::size_t kRepeatedBytesMax = 256;

std::string_view plural(Fault fault);  // "flips", "half_closes", …
bool ends_stream(Fault fault);

// Zero, or nothing, leaves a fault out. Distances and pauses are means of an exponential
// distribution: faults come at any time, whatever came before.
struct ChaosOptions {
  std::uint64_t seed = 0;
  Duration delay{};
  Duration jitter{};             // on top of the delay: anything up to this
  std::uint64_t rate_bytes = 0;  // per second, connection and direction
  Duration stall_every{};
  Duration stall_span{};
  std::size_t chunk_bytes = 0;  // at most so many in one write
  std::uint64_t flip_every_bytes = 0;
  std::uint64_t duplicate_every_bytes = 0;
  std::uint64_t truncate_every_bytes = 0;
  std::uint64_t half_close_every_bytes = 0;
  std::uint64_t reset_every_bytes = 0;
};

enum class Direction : std::uint8_t { kUp, kDown };  // from who dialled; to who dialled

// What one read becomes. `pieces` cut `bytes` into writes; `marks` say which faults have happened
// once so many bytes are out, in order. The last mark may end the stream.
struct ChaosBatch {
  struct Piece {
    std::size_t end = 0;  // offset in `bytes`
    Time due{};
  };
  struct Mark {
    std::size_t at = 0;  // offset in `bytes`
    Fault fault{};
  };

  std::vector<std::byte> bytes;
  std::vector<Piece> pieces;  // never empty
  std::vector<Mark> marks;
};

// Where the next fault of one kind stands.
class FaultTrack final {
 public:
  FaultTrack(Fault fault, std::uint64_t every, const ChaosOptions& options,
             std::uint64_t connection, Direction direction);

  bool active() const { return every_ != 0; }
  std::uint64_t at() const { return at_; }  // bytes of the stream, or nanoseconds of its life
  void advance(std::uint64_t from);         // to the next one after `from`
  std::uint32_t dice() const;               // a number of the fault at hand

 private:
  std::uint64_t every_;
  RandomStream draws_;
  std::uint64_t drawn_ = 0;
  std::uint64_t at_ = 0;
};

class ChaosPlan final {
 public:
  ChaosPlan(const ChaosOptions& options, std::uint64_t connection, Direction direction,
            Time opened);

  // What becomes of the next bytes of the stream. Not after ended().
  ChaosBatch take(std::span<const std::byte> bytes, Time arrived);
  bool ended() const { return ended_; }

 private:
  void harm(std::span<const std::byte> bytes, ChaosBatch& batch);
  std::uint64_t next_stop(std::uint64_t limit) const;
  void pass(std::span<const std::byte> bytes, ChaosBatch& batch);
  void repeat(ChaosBatch& batch);
  void end(ChaosBatch& batch);
  void pace(Time arrived, Duration jitter, ChaosBatch& batch);
  Time after_stalls(Time due, std::size_t at, std::vector<ChaosBatch::Mark>& stalls);
  std::size_t piece_bytes_max() const;
  Duration jitter_here() const;

  ChaosOptions options_;
  Time opened_;
  RandomStream jitters_;
  FaultTrack flips_;
  FaultTrack repeats_;
  FaultTrack stalls_;
  std::array<FaultTrack, 3> endings_;

  std::uint64_t position_ = 0;     // bytes of the stream so far
  std::vector<std::byte> recent_;  // the last of them, for what comes twice
  Time due_{};                     // of the last piece: order is kept
  Time free_{};                    // when the rate lets the next one through
  bool ended_ = false;
};

}  // namespace wide::net
