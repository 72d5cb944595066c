#pragma once
// Dials a pool: finds its addresses, tries one after another, and gives up at a deadline whatever
// hangs (a name server, a machine that swallows packets).

// A standard header before the first of Asio's: Asio asks libstdc++'s macros how it may allocate,
// and files that answered differently would free each other's memory the wrong way.
#include <memory>

#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>

#include "wide/base/clock.h"
#include "wide/net/lookup.h"

namespace wide::net {

class Dialer final {
 public:
  explicit Dialer(asio::io_context& io) : socket_(io), timer_(io) {}

  // kPoolUnreachable with what the last try said. One call at a time; once it has returned, the
  // dialer may go.
  asio::awaitable<Result<asio::ip::tcp::socket>> dial(Endpoint endpoint, Time deadline);
  void cancel();  // dial() then returns soon, with an error

 private:
  asio::awaitable<Result<Addresses>> find(Endpoint endpoint, Time deadline);
  asio::awaitable<std::error_code> connect(asio::ip::tcp::endpoint address, Time deadline);

  asio::ip::tcp::socket socket_;
  asio::steady_timer timer_;
  bool cancelled_ = false;
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);  // for a late timer
};

// What a person reads when nobody could be reached: what was tried, and what to look at.
Error unreachable(const Endpoint& endpoint, const std::string& last);

// A call to a port of this machine on which nobody listens may be given that very port as its own:
// TCP then connects it to itself, and a pool that comes back finds its port taken. The dialer hangs
// up on itself.
bool answers_itself(const asio::ip::tcp::socket& socket);

}  // namespace wide::net
