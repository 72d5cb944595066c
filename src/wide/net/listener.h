#pragma once
// Where others knock. Survives a machine or a process that has run out of file descriptors: one is
// kept in reserve, given up to accept the caller that cannot be served, and taken back once that
// caller is hung up on. Without it the caller would stay in the queue and wake us for ever.

#include <optional>

#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>

#include "wide/engine/job.h"
#include "wide/net/endpoint.h"

namespace wide::net {

class Listener final {
 public:
  // Binds at once; throws Failure (kPortInUse, kBadAddress).
  Listener(asio::io_context& io, const Endpoint& listen, const engine::Net& net);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // The next caller; nothing once closed. Callers that cannot be served are turned away inside.
  asio::awaitable<std::optional<asio::ip::tcp::socket>> accept();
  void close();

  const Endpoint& bound() const { return bound_; }
  std::uint64_t turned_away() const { return turned_away_; }

 private:
  void bind(const Endpoint& listen, const engine::Net& net);
  void turn_one_away();

  asio::ip::tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  Endpoint bound_;
  int reserve_descriptor_;
  std::uint64_t turned_away_ = 0;
};

}  // namespace wide::net
