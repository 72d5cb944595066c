#include "wide/net/line_watch.h"

// The kernel's own header: the library's lacks the newer fields, and the two cannot meet in a file.
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace wide::net {

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

std::optional<codec::LinkFacts> LineWatch::learn(const TcpReading& reading) {
  const auto before = std::exchange(last_, reading);
  if (!before || reading.at <= before->at) return std::nullopt;
  if (reading.reader_full > before->reader_full) return std::nullopt;
  const std::uint64_t bytes = reading.acked_bytes - before->acked_bytes;
  const Duration span = reading.at - before->at;
  if (reading.unsent_bytes > 0) return carried(bytes, span, reading.rtt_min);
  last_.reset();  // it may be idle from here on
  return bounded(static_cast<double>(bytes) / seconds(span), reading.rtt_min);
}

// Told only where it is more than what was told.
std::optional<codec::LinkFacts> LineWatch::bounded(double bytes_per_second, Duration rtt) {
  bounds_[bound_count_++ % kBoundsKept] = bytes_per_second;
  if (told_ == 0 || bytes_per_second <= told_) return std::nullopt;
  told_ = bytes_per_second;
  return codec::LinkFacts{told_, rtt};
}

std::optional<codec::LinkFacts> LineWatch::carried(std::uint64_t bytes, Duration span,
                                                   Duration rtt) {
  carried_bytes_ += bytes;
  span_ += span;
  if (span_ < kFactSpan || carried_bytes_ == 0) return std::nullopt;
  const double rate = static_cast<double>(carried_bytes_) / seconds(span_);
  carried_bytes_ = 0;
  span_ = {};
  told_ = std::max(rate, *std::ranges::max_element(bounds_));
  return codec::LinkFacts{told_, rtt};
}

}  // namespace wide::net
