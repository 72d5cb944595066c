#include "wide/net/lookup.h"

#include <fmt/format.h>
#include <netdb.h>

#include <cstring>
#include <thread>

#include "wide/net/signal_block.h"

namespace wide::net {

using asio::ip::tcp;

namespace {

std::optional<Addresses> numeric(const Endpoint& endpoint) {
  std::error_code failed;
  const auto address = asio::ip::make_address(endpoint.host, failed);
  if (failed) return std::nullopt;
  return Addresses{tcp::endpoint(address, endpoint.port)};
}

Addresses gather(const addrinfo* first) {
  Addresses addresses;
  for (const addrinfo* at = first; at != nullptr; at = at->ai_next) {
    tcp::endpoint found;
    if (at->ai_addrlen > found.capacity()) continue;
    found.resize(at->ai_addrlen);
    std::memcpy(found.data(), at->ai_addr, at->ai_addrlen);
    addresses.push_back(found);
  }
  return addresses;
}

}  // namespace

Result<Addresses> look_up(const Endpoint& endpoint) {
  if (auto found = numeric(endpoint)) return std::move(*found);
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* first = nullptr;
  const auto port = std::to_string(endpoint.port);
  const int failed = ::getaddrinfo(endpoint.host.c_str(), port.c_str(), &hints, &first);
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(first, &freeaddrinfo);
  auto addresses = failed == 0 ? gather(first) : Addresses{};
  if (!addresses.empty()) return addresses;
  return fail(Errc::kBadAddress, fmt::format("no address is known for the name '{}' ({})",
                                             endpoint.host, ::gai_strerror(failed)));
}

std::shared_ptr<Lookup> Lookup::start(const Endpoint& endpoint) {
  auto lookup = std::make_shared<Lookup>();
  if (auto found = numeric(endpoint)) {
    lookup->outcome_ = std::move(*found);
    return lookup;
  }
  const SignalBlock signals_stay_here;
  std::thread([lookup, endpoint] {
    auto outcome = look_up(endpoint);
    const std::lock_guard lock(lookup->mutex_);
    lookup->outcome_ = std::move(outcome);
  }).detach();
  return lookup;
}

std::optional<Result<Addresses>> Lookup::outcome() {
  const std::lock_guard lock(mutex_);
  return outcome_;
}

}  // namespace wide::net
