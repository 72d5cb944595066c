#pragma once
// How fast a connection's line is, by what the kernel says of it while a large message leaves:
//
//   begin ─▶ message handed over ─▶ reading ── 10 ms ── reading …    until nothing is left to send
//
// In a span that ends with bytes which the kernel had no leave to send yet, the line was never
// idle, and what was acknowledged is what it carried. A flight, from the beginning until nothing is
// left, gives a lower bound: the line can do that, perhaps more. Fast lines are seen by their
// bounds alone, but for moments in which the machine had something better to do; so what a line has
// shown of late it is believed to have. Spans in which the reader had no room say nothing.
//
// A shaped line lets bursts pass at many times its rate. So short flights among long ones, such as
// the first fragment of a coded message, bound nothing; and neither does the kernel's own delivery
// rate, which is of a few packets. No clock of its own.

#include <array>
#include <cstdint>
#include <optional>

#include "wide/base/clock.h"
#include "wide/codec/link_model.h"

namespace wide::net {

struct TcpReading {
  Time at{};
  std::uint64_t acked_bytes = 0;   // since the connection began
  std::uint32_t unsent_bytes = 0;  // the kernel would send them, had it leave
  Duration reader_full{};          // the other side had no room, since the connection began
  Duration rtt_min{};
};

std::optional<TcpReading> read_tcp(int descriptor, Time now);

class LineWatch final {
 public:
  static constexpr Duration kEvery = std::chrono::milliseconds(10);

  // A large message is about to be handed over.
  void begin(const TcpReading& reading);
  // Now and then there is enough for a fact.
  std::optional<codec::LinkFacts> learn(const TcpReading& reading);

 private:
  static constexpr Duration kFactSpan = 10 * kEvery;
  static constexpr std::size_t kBoundsKept = 8;

  struct Carried {
    std::uint64_t bytes = 0;
    Duration span{};

    void add(const Carried& more) {
      bytes += more.bytes;
      span += more.span;
    }
    double rate() const { return static_cast<double>(bytes) / seconds(span); }
  };

  bool is_long(const Carried& flight) const;
  double believed_bound() const;
  std::optional<codec::LinkFacts> landed(Duration rtt);
  std::optional<codec::LinkFacts> carried(Duration rtt);

  std::optional<TcpReading> last_;
  Carried flight_;                           // of this message, so far
  Carried busy_;                             // of several, while the line was never idle
  double longest_bytes_ = 0;                 // of flights of late
  std::array<Carried, kBoundsKept> bounds_;  // the latest long flights
  std::size_t bound_count_ = 0;
  double told_ = 0;  // bytes per second, as last told
};

}  // namespace wide::net
