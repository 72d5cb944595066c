#pragma once
// How long a message takes from one end of a link to the other, by codec, as far as was seen. A
// message of n bytes, in blocks of B:
//
//   t(codec, n) = encode(B) + travel(B) + decode(B) + (n - B) × the slowest of the three per byte
//
// Blocks are coded while others travel, so the slowest of the three sets the pace; the first
// block's encoding and the last one's decoding overlap with nothing. Round trips are the same for
// every codec and left out.
//
// What it is told is doubted: one measurement alone never moves it far, many that agree do.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "wide/base/clock.h"
#include "wide/codec/cost_line.h"
#include "wide/codec/lossless.h"

namespace wide::codec {

// What the socket says of itself. Not what was made of it: a line that waits for an encoder is not
// slow.
struct LinkFacts {
  double bytes_per_second = 0;  // of the line, as far as known; 0: not known yet
  Duration rtt{};
};

// One block coded and decoded.
struct Trial {
  Lossless codec = Lossless::kNone;
  std::size_t raw_bytes = 0;
  std::size_t coded_bytes = 0;  // 0: it did not get smaller
  Duration encode{};
  Duration decode{};  // zero: not measured this time
};

class LinkModel final {
 public:
  LinkModel(unsigned threads, std::size_t block_bytes);

  void learn(const LinkFacts& facts);
  // True: the bytes have become others, and what was known of codes' sizes is forgotten; but for
  // the codec in use, which will show by itself.
  bool learn(const Trial& trial, Lossless in_use);
  void note_message(std::size_t raw_bytes);

  double bytes_per_second() const { return bytes_per_second_; }  // as believed; 0: not known
  bool has_coded(Lossless codec) const { return !known(codec).encode_seconds.empty(); }
  // The last code was of quite another size than expected.
  bool is_surprised_by(Lossless codec) const { return known(codec).surprise_count > 0; }

  // Infinite where nothing is known. Per byte of the messages that make up most of the traffic.
  double message_seconds(Lossless codec, std::size_t raw_bytes) const;
  double seconds_per_byte(Lossless codec) const;
  // Of one block, encoded and decoded.
  double coding_seconds(Lossless codec, std::size_t raw_bytes) const;

  // The size from which `codec` saves at least the share `noticed` of the time until a message has
  // arrived; the largest number there is where it never does.
  std::size_t worthwhile_bytes(Lossless codec, double noticed) const;

 private:
  struct Known {
    CostLine coded_bytes;
    CostLine encode_seconds;
    CostLine decode_seconds;
    std::uint32_t surprise_count = 0;  // codes in a row of quite another size than expected
  };
  // Seconds for some bytes in each of the three places they must go through.
  struct Stages {
    double encode = 0;
    double travel = 0;
    double decode = 0;
  };

  const Known& known(Lossless codec) const { return known_[static_cast<std::size_t>(codec)]; }
  Stages stages(Lossless codec, double raw_bytes) const;
  double pace(Lossless codec) const;
  void believe_bandwidth();
  void forget_sizes(Lossless seen, Lossless in_use);

  unsigned threads_;
  std::size_t block_bytes_;
  std::vector<double> bandwidths_;  // the last few reported, oldest first
  double bytes_per_second_ = 0;
  Duration rtt_{};
  double bytes_;  // of the messages of late, and their squares: usual size = squares ÷ bytes
  double squared_bytes_;
  std::array<Known, kLosslessCount> known_;
};

}  // namespace wide::codec
