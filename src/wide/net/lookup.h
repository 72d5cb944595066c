#pragma once
// From a host's name to addresses. Numbers are taken as they are, without asking anyone.

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <asio/ip/tcp.hpp>

#include "wide/base/error.h"
#include "wide/net/endpoint.h"

namespace wide::net {

using Addresses = std::vector<asio::ip::tcp::endpoint>;

// Blocks while a name server is asked, which may take many seconds. kBadAddress where the name is
// not known; never empty otherwise.
Result<Addresses> look_up(const Endpoint& endpoint);

// The same on a thread of its own that is never waited for: the system's resolver cannot be
// interrupted, and a dialler with a deadline must not hang with it. The thread holds nothing but
// its share of this object.
class Lookup final {
 public:
  static std::shared_ptr<Lookup> start(const Endpoint& endpoint);

  std::optional<Result<Addresses>> outcome();  // nothing yet: ask again

 private:
  std::mutex mutex_;
  std::optional<Result<Addresses>> outcome_;
};

}  // namespace wide::net
