#include "wide/net/chaos_proxy.h"

#include <csignal>
#include <set>
#include <utility>
#include <vector>

#include <asio/co_spawn.hpp>
#include <asio/post.hpp>
#include <asio/redirect_error.hpp>
#include <asio/signal_set.hpp>
#include <asio/use_awaitable.hpp>

#include "wide/base/log.h"
#include "wide/net/dialer.h"
#include "wide/net/listener.h"
#include "wide/net/rethrow.h"
#include "wide/net/steady.h"

namespace wide::net {

using asio::ip::tcp;

class ChaosProxy::Impl final {
 public:
  explicit Impl(ChaosProxyOptions options)
      : options_(std::move(options)),
        listener_(io_, options_.listen, {}),
        signals_(io_, SIGINT, SIGTERM),
        end_(io_) {}

  void run();
  void stop();
  const Endpoint& bound() const { return listener_.bound(); }
  bool interrupted() const { return interrupted_; }
  const ChaosCounts& counts() const { return counts_; }

 private:
  asio::awaitable<void> accept_loop();
  asio::awaitable<void> serve(tcp::socket caller, std::uint64_t number);
  asio::awaitable<void> signal_loop();
  asio::awaitable<void> end_loop();
  void open(tcp::socket caller, tcp::socket target, std::uint64_t number);
  void turn_away(tcp::socket caller, std::uint64_t number, const Error& why);
  void wind_down();

  asio::io_context io_{1};
  ChaosProxyOptions options_;
  Listener listener_;
  asio::signal_set signals_;
  asio::steady_timer end_;

  ChaosCounts counts_;
  std::set<Dialer*> dialling_;  // each lives in its serve()
  std::vector<std::weak_ptr<ChaosSession>> sessions_;
  bool stopping_ = false;
  bool interrupted_ = false;
};

void ChaosProxy::Impl::run() {
  asio::co_spawn(io_, accept_loop(), rethrow);
  asio::co_spawn(io_, signal_loop(), rethrow);
  if (options_.run_for) asio::co_spawn(io_, end_loop(), rethrow);
  io_.run();
}

void ChaosProxy::Impl::stop() {
  asio::post(io_, [this] { wind_down(); });
}

asio::awaitable<void> ChaosProxy::Impl::accept_loop() {
  for (;;) {
    auto caller = co_await listener_.accept();
    if (!caller) break;
    asio::co_spawn(io_, serve(std::move(*caller), counts_.connections++), rethrow);
  }
}

asio::awaitable<void> ChaosProxy::Impl::serve(tcp::socket caller, std::uint64_t number) {
  Dialer dialer(io_);
  dialling_.insert(&dialer);
  auto target = co_await dialer.dial(options_.to, steady_now() + options_.dial_max);
  dialling_.erase(&dialer);
  if (!target) {
    turn_away(std::move(caller), number, target.error());
  } else if (!stopping_) {
    open(std::move(caller), std::move(*target), number);
  }
}

void ChaosProxy::Impl::open(tcp::socket caller, tcp::socket target, std::uint64_t number) {
  std::erase_if(sessions_, [](const auto& session) { return session.expired(); });
  const auto session = std::make_shared<ChaosSession>(std::move(caller), std::move(target),
                                                      options_.chaos, number, counts_);
  sessions_.push_back(session);
  session->start(io_);
}

void ChaosProxy::Impl::turn_away(tcp::socket caller, std::uint64_t number, const Error& why) {
  ++counts_.dials_failed;
  log::detail("dial failed connection={} to={} reason={}", number, options_.to.text(), why.detail);
  std::error_code ignored;
  caller.set_option(asio::socket_base::linger(true, 0), ignored);
  caller.close(ignored);
}

asio::awaitable<void> ChaosProxy::Impl::signal_loop() {
  if (stopping_) co_return;
  std::error_code cancelled;
  co_await signals_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
  if (cancelled) co_return;
  interrupted_ = true;
  wind_down();
}

asio::awaitable<void> ChaosProxy::Impl::end_loop() {
  if (stopping_) co_return;
  std::error_code cancelled;
  end_.expires_after(*options_.run_for);
  co_await end_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
  if (!cancelled) wind_down();
}

// Every loop ends by itself once this is done, and with the last of them io_.run().
void ChaosProxy::Impl::wind_down() {
  stopping_ = true;
  listener_.close();
  signals_.cancel();
  end_.cancel();
  for (Dialer* dialer : dialling_) dialer->cancel();
  for (const auto& known : sessions_) {
    if (const auto session = known.lock()) session->reset();
  }
}

ChaosProxy::ChaosProxy(ChaosProxyOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}
ChaosProxy::~ChaosProxy() = default;

const Endpoint& ChaosProxy::bound() const { return impl_->bound(); }
void ChaosProxy::run() { impl_->run(); }
bool ChaosProxy::interrupted() const { return impl_->interrupted(); }
void ChaosProxy::stop() { impl_->stop(); }
const ChaosCounts& ChaosProxy::counts() const { return impl_->counts(); }

}  // namespace wide::net
