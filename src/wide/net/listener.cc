#include "wide/net/listener.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>

#include "wide/base/log.h"
#include "wide/net/lookup.h"
#include "wide/net/tcp_options.h"

namespace wide::net {

using asio::ip::tcp;

namespace {

constexpr auto kPauseWhenExhausted = std::chrono::milliseconds(50);

int open_reserve() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

[[noreturn]] void cannot_listen(const Endpoint& listen, const std::error_code& failed) {
  if (failed.value() == EADDRINUSE) {
    throw Failure(Errc::kPortInUse,
                  fmt::format("{}: another program listens there; name another port with "
                              "--listen HOST:PORT, or port 0 for any free one",
                              listen.text()));
  }
  throw Failure(Errc::kBadAddress, fmt::format("cannot listen on {}: {}; name an address of this "
                                               "machine and a port this user may open",
                                               listen.text(), failed.message()));
}

// By number: Asio's error codes have a category of their own, which std::errc does not know.
bool is_exhausted(const std::error_code& failed) {
  switch (failed.value()) {
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
      return true;
    default:
      return false;
  }
}

}  // namespace

Listener::Listener(asio::io_context& io, const Endpoint& listen, const engine::Net& net)
    : acceptor_(io), pause_(io), reserve_descriptor_(-1) {
  bind(listen, net);
  reserve_descriptor_ = open_reserve();
}

Listener::~Listener() {
  if (reserve_descriptor_ >= 0) ::close(reserve_descriptor_);
}

void Listener::bind(const Endpoint& listen, const engine::Net& net) {
  const auto found = look_up(listen);
  if (!found) {
    throw Failure(Errc::kBadAddress,
                  fmt::format("cannot listen on {}: {}", listen.text(), found.error().detail));
  }
  const tcp::endpoint address = found->front();
  std::error_code failed;
  acceptor_.open(address.protocol(), failed);
  if (!failed) acceptor_.set_option(tcp::acceptor::reuse_address(true), failed);
  if (!failed) {
    set_buffer_sizes(acceptor_.native_handle(), net);
    acceptor_.bind(address, failed);
  }
  if (!failed) acceptor_.listen(tcp::acceptor::max_listen_connections, failed);
  if (failed) cannot_listen(listen, failed);
  bound_ = listen;
  bound_.port = acceptor_.local_endpoint().port();
}

asio::awaitable<std::optional<tcp::socket>> Listener::accept() {
  tcp::socket socket(acceptor_.get_executor());
  std::error_code failed;
  while (acceptor_.is_open()) {
    co_await acceptor_.async_accept(socket, asio::redirect_error(asio::use_awaitable, failed));
    if (!failed) co_return std::move(socket);
    if (is_exhausted(failed)) {
      turn_one_away();
      pause_.expires_after(kPauseWhenExhausted);
      co_await pause_.async_wait(asio::redirect_error(asio::use_awaitable, failed));
    }
  }
  co_return std::nullopt;
}

void Listener::turn_one_away() {
  if (turned_away_++ == 0) {
    log::error("callers turned away: out of file descriptors; raise the limit (ulimit -n)");
  }
  if (reserve_descriptor_ >= 0) ::close(reserve_descriptor_);
  const int caller = ::accept4(acceptor_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC);
  if (caller >= 0) ::close(caller);
  reserve_descriptor_ = open_reserve();
}

void Listener::close() {
  std::error_code ignored;
  acceptor_.close(ignored);
  pause_.cancel();
}

}  // namespace wide::net
