#include "wide/net/dialer.h"

#include <fmt/format.h>

#include <asio/error.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>

#include "wide/net/steady.h"

namespace wide::net {

using asio::ip::tcp;

namespace {

constexpr auto kAskLookupEvery = std::chrono::milliseconds(10);

std::string words(const std::error_code& failed) {
  return failed == asio::error::operation_aborted ? "no answer" : failed.message();
}

}  // namespace

asio::awaitable<Result<tcp::socket>> Dialer::dial(Endpoint endpoint, Time deadline) {
  cancelled_ = false;
  const auto addresses = co_await find(endpoint, deadline);
  if (!addresses) co_return tl::unexpected<Error>(addresses.error());
  std::error_code failed = asio::error::operation_aborted;
  auto left = static_cast<std::int64_t>(addresses->size());
  for (const auto& address : *addresses) {
    if (cancelled_) break;
    // Each address gets its share of the time that is left, so a dead one cannot eat it all.
    const Time now = steady_now();
    failed = co_await connect(address, now + (deadline - now) / left--);
    if (!failed) co_return std::move(socket_);
  }
  co_return fail(Errc::kPoolUnreachable, words(failed));
}

asio::awaitable<Result<Addresses>> Dialer::find(Endpoint endpoint, Time deadline) {
  const auto lookup = Lookup::start(endpoint);
  std::error_code ignored;
  for (;;) {
    auto outcome = lookup->outcome();
    if (outcome) co_return std::move(*outcome);
    if (cancelled_ || steady_now() >= deadline) break;
    timer_.expires_after(kAskLookupEvery);
    co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  co_return fail(Errc::kPoolUnreachable,
                 fmt::format("no name server answered for '{}'", endpoint.host));
}

asio::awaitable<std::error_code> Dialer::connect(tcp::endpoint address, Time deadline) {
  std::error_code failed;
  socket_ = tcp::socket(socket_.get_executor());
  timer_.expires_at(time_point(deadline));
  timer_.async_wait([this, alive = std::weak_ptr(alive_)](const std::error_code& aborted) {
    if (aborted || alive.expired()) return;
    // A wait that had already fired when the next one was set must not cut that one short.
    const bool due = timer_.expiry() <= asio::steady_timer::clock_type::now();
    std::error_code ignored;
    if (due) socket_.close(ignored);
  });
  co_await socket_.async_connect(address, asio::redirect_error(asio::use_awaitable, failed));
  timer_.cancel();
  if (!failed && answers_itself(socket_)) {
    std::error_code ignored;
    socket_.set_option(tcp::socket::linger(true, 0), ignored);  // no TIME_WAIT on the pool's port
    socket_.close(ignored);
    failed = asio::error::connection_refused;
  }
  co_return failed;
}

void Dialer::cancel() {
  cancelled_ = true;
  timer_.cancel();
  std::error_code ignored;
  socket_.close(ignored);
}

bool answers_itself(const tcp::socket& socket) {
  std::error_code here_failed;
  std::error_code there_failed;
  const auto here = socket.local_endpoint(here_failed);
  const auto there = socket.remote_endpoint(there_failed);
  return !here_failed && !there_failed && here == there;
}

Error unreachable(const Endpoint& endpoint, const std::string& last) {
  return {Errc::kPoolUnreachable, fmt::format("tried {}: {}", endpoint.url(), last)};
}

}  // namespace wide::net
