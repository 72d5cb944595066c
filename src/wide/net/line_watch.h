#pragma once
// How fast a connection's line is, by what the kernel says of it while a large message leaves:
//
//   begin ─▶ message handed over ─▶ reading ── 10 ms ── reading …    until nothing is left to send
//
// In a span that ends with bytes which the kernel had no leave to send yet, the line was never
// idle, and what was acknowledged is what it carried. A span that ends without any gives a lower
// bound: the line can do that, perhaps more. Fast lines are seen by their bounds alone, but for
// moments in which the machine had something better to do; so what a line has shown of late it is
// believed to have. Spans in which the reader had no room say nothing.
//
// The kernel's own delivery rate is of single flights: a shaped line that lets bursts pass shows a
// hundred times its rate there. No clock of its own.

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
  void begin(const TcpReading& reading) { last_ = reading; }
  // Now and then there is enough for a fact.
  std::optional<codec::LinkFacts> learn(const TcpReading& reading);

 private:
  static constexpr Duration kFactSpan = 10 * kEvery;
  static constexpr std::size_t kBoundsKept = 8;

  std::optional<codec::LinkFacts> bounded(double bytes_per_second, Duration rtt);
  std::optional<codec::LinkFacts> carried(std::uint64_t bytes, Duration span, Duration rtt);

  std::optional<TcpReading> last_;
  std::uint64_t carried_bytes_ = 0;
  Duration span_{};
  std::array<double, kBoundsKept> bounds_{};  // the latest, one per message
  std::size_t bound_count_ = 0;
  double told_ = 0;  // bytes per second, as last told
};

}  // namespace wide::net
