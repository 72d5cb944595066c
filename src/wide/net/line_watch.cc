#include "wide/net/line_watch.h"

// The kernel's own header: the library's lacks the newer fields, and the two cannot meet in a file.
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace wide::net {

namespace {

constexpr double kLongShare = 0.5;  // of the longest flight of late
constexpr double kFading = 0.95;    // of its length, with every flight

}  // namespace

std::optional<TcpReading> read_tcp(int descriptor, Time now) {
  tcp_info told{};
  socklen_t bytes = sizeof(told);
  if (::getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &told, &bytes) != 0) return std::nullopt;
  constexpr auto kNeeded = offsetof(tcp_info, tcpi_rwnd_limited) + sizeof(told.tcpi_rwnd_limited);
  if (bytes < kNeeded) return std::nullopt;  // an old kernel
  TcpReading reading;
  reading.at = now;
  reading.acked_bytes = told.tcpi_bytes_acked;
  reading.unsent_bytes = told.tcpi_notsent_bytes;
  reading.reader_full = std::chrono::microseconds(told.tcpi_rwnd_limited);
  reading.rtt_min = std::chrono::microseconds(told.tcpi_min_rtt);
  return reading;
}

void LineWatch::begin(const TcpReading& reading) {
  last_ = reading;
  flight_ = {};
}

std::optional<codec::LinkFacts> LineWatch::learn(const TcpReading& reading) {
  const auto before = std::exchange(last_, reading);
  if (!before || reading.at <= before->at) return std::nullopt;
  const bool in_flight = reading.unsent_bytes > 0;
  if (!in_flight) last_.reset();  // it may be idle from here on
  if (reading.reader_full > before->reader_full) return std::nullopt;
  const Carried span{reading.acked_bytes - before->acked_bytes, reading.at - before->at};
  flight_.add(span);
  if (!in_flight) return landed(reading.rtt_min);
  busy_.add(span);
  return carried(reading.rtt_min);
}

bool LineWatch::is_long(const Carried& flight) const {
  return static_cast<double>(flight.bytes) >= kLongShare * longest_bytes_;
}

double LineWatch::believed_bound() const {
  double most = 0;
  for (const Carried& flight : bounds_) {
    if (flight.bytes > 0 && is_long(flight)) most = std::max(most, flight.rate());
  }
  return most;
}

// Told only where it is more than what was told.
std::optional<codec::LinkFacts> LineWatch::landed(Duration rtt) {
  longest_bytes_ = std::max(static_cast<double>(flight_.bytes), kFading * longest_bytes_);
  if (!is_long(flight_)) return std::nullopt;
  bounds_[bound_count_++ % kBoundsKept] = flight_;
  if (told_ == 0 || flight_.rate() <= told_) return std::nullopt;
  told_ = flight_.rate();
  return codec::LinkFacts{told_, rtt};
}

std::optional<codec::LinkFacts> LineWatch::carried(Duration rtt) {
  if (busy_.span < kFactSpan || busy_.bytes == 0) return std::nullopt;
  told_ = std::max(std::exchange(busy_, {}).rate(), believed_bound());
  return codec::LinkFacts{told_, rtt};
}

}  // namespace wide::net
