#pragma once
// Where a pool is: host and port, as people write them.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wide/base/error.h"

namespace wide::net {

inline constexpr std::uint16_t kDefaultPort = 7878;

struct Endpoint {
  std::string host;  // a name, an IPv4 address, or an IPv6 address without brackets
  std::uint16_t port = kDefaultPort;

  std::string text() const;  // "host:port", "[::1]:port"
  std::string url() const { return "wide://" + text(); }
  bool is_loopback() const;  // 127.0.0.0/8, ::1, localhost
  bool is_any() const;       // 0.0.0.0, ::
};

// "HOST:PORT", "HOST", ":PORT"; port 0 means any free one.
Result<Endpoint> parse_listen(std::string_view text);

// "wide://HOST:PORT" or plain "HOST:PORT".
Result<Endpoint> parse_url(std::string_view text);

// Addresses of this machine that others may be told: none of them loopback or link-local.
std::vector<std::string> addresses_for_others();

}  // namespace wide::net
