#include "wide/net/endpoint.h"

#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>

#include <asio/ip/address.hpp>

namespace wide::net {

namespace {

constexpr std::string_view kScheme = "wide://";

tl::unexpected<Error> bad_address(std::string_view text, std::string_view why) {
  return fail(Errc::kBadAddress, fmt::format("'{}': {}", text, why));
}

std::optional<std::uint16_t> parse_port(std::string_view digits) {
  std::uint16_t port = 0;
  const auto* end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, port);
  if (digits.empty() || parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return port;
}

std::optional<asio::ip::address> numeric(const std::string& host) {
  std::error_code failed;
  const auto address = asio::ip::make_address(host, failed);
  if (failed) return std::nullopt;
  return address;
}

bool is_host_letter(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '.' || letter == '-' ||
         letter == '_' || letter == ':' || letter == '%';
}

struct Parts {
  std::string_view host;
  std::optional<std::string_view> port;
};

// "[v6]:port", "host:port", "host", ":port"; several colons without brackets are a bare IPv6
// address, whose last group must not be taken for a port.
std::optional<Parts> split(std::string_view text) {
  if (text.starts_with('[')) {
    const auto close = text.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    const auto rest = text.substr(close + 1);
    if (rest.empty()) return Parts{text.substr(1, close - 1), std::nullopt};
    if (rest.front() != ':') return std::nullopt;
    return Parts{text.substr(1, close - 1), rest.substr(1)};
  }
  const auto colon = text.find(':');
  if (colon == std::string_view::npos || text.find(':', colon + 1) != std::string_view::npos) {
    return Parts{text, std::nullopt};
  }
  return Parts{text.substr(0, colon), text.substr(colon + 1)};
}

Result<Endpoint> parse(std::string_view text) {
  const auto parts = split(text);
  if (!parts) return bad_address(text, "write HOST:PORT, or [IPV6]:PORT");
  Endpoint endpoint{std::string(parts->host), kDefaultPort};
  if (!std::all_of(endpoint.host.begin(), endpoint.host.end(), is_host_letter)) {
    return bad_address(text, "a host has letters, digits, dots and dashes");
  }
  if (endpoint.host.find(':') != std::string::npos && !numeric(endpoint.host)) {
    return bad_address(text, "not an IPv6 address");
  }
  if (parts->port) {
    const auto port = parse_port(*parts->port);
    if (!port) return bad_address(text, "a port is a number from 0 to 65535");
    endpoint.port = *port;
  }
  return endpoint;
}

bool is_for_others(const asio::ip::address& address) {
  if (address.is_loopback() || address.is_unspecified() || address.is_multicast()) return false;
  if (address.is_v6()) return !address.to_v6().is_link_local();
  const auto bytes = address.to_v4().to_bytes();
  return !(bytes[0] == 169 && bytes[1] == 254);
}

std::optional<asio::ip::address> address_of(const sockaddr* socket_address) {
  if (socket_address == nullptr) return std::nullopt;
  if (socket_address->sa_family == AF_INET) {
    const auto* found = reinterpret_cast<const sockaddr_in*>(socket_address);
    return asio::ip::address_v4(ntohl(found->sin_addr.s_addr));
  }
  if (socket_address->sa_family == AF_INET6) {
    asio::ip::address_v6::bytes_type bytes;
    const auto* found = reinterpret_cast<const sockaddr_in6*>(socket_address);
    std::copy_n(found->sin6_addr.s6_addr, bytes.size(), bytes.begin());
    return asio::ip::address_v6(bytes);
  }
  return std::nullopt;
}

}  // namespace

std::string Endpoint::text() const {
  const bool is_v6 = host.find(':') != std::string::npos;
  return is_v6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

bool Endpoint::is_loopback() const {
  const auto address = numeric(host);
  return address ? address->is_loopback() : host == "localhost";
}

bool Endpoint::is_any() const {
  const auto address = numeric(host);
  return address && address->is_unspecified();
}

Result<Endpoint> parse_listen(std::string_view text) {
  if (text.empty()) return bad_address(text, "write HOST:PORT, HOST or :PORT");
  if (parse_port(text)) return bad_address(text, fmt::format("did you mean ':{}'?", text));
  auto endpoint = parse(text);
  // Nobody named means nobody else: a pool is open to other machines only where it was told so.
  if (endpoint && endpoint->host.empty()) endpoint->host = "127.0.0.1";
  return endpoint;
}

Result<Endpoint> parse_url(std::string_view text) {
  auto rest = text;
  if (rest.starts_with(kScheme)) {
    rest.remove_prefix(kScheme.size());
    if (rest.ends_with('/')) rest.remove_suffix(1);
  } else if (rest.find("://") != std::string_view::npos) {
    return bad_address(text, "a pool's address reads wide://HOST:PORT");
  }
  auto endpoint = parse(rest);
  if (!endpoint) return endpoint;
  if (endpoint->host.empty()) return bad_address(text, "the host is missing");
  if (endpoint->port == 0) return bad_address(text, "port 0 cannot be dialled");
  return endpoint;
}

std::vector<std::string> addresses_for_others() {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(first, &freeifaddrs);
  std::vector<std::string> v4;
  std::vector<std::string> v6;
  for (const ifaddrs* at = first; at != nullptr; at = at->ifa_next) {
    const auto address = address_of(at->ifa_addr);
    if ((at->ifa_flags & IFF_UP) == 0 || !address || !is_for_others(*address)) continue;
    (address->is_v4() ? v4 : v6).push_back(address->to_string());
  }
  v4.insert(v4.end(), v6.begin(), v6.end());
  return v4;
}

}  // namespace wide::net
