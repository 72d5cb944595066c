#include "wide/net/pool_call.h"

#include <fmt/format.h>

#include <optional>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>

#include "wide/net/dialer.h"
#include "wide/net/link.h"
#include "wide/net/rethrow.h"
#include "wide/net/steady.h"

namespace wide::net {

namespace {

// Hello ─▶ Welcome ─▶ StatusRequest ─▶ StatusReport ─▶ Echo ─▶ Echo …, then hang up.
class PoolCall final : public LinkOwner {
 public:
  PoolCall(const Endpoint& pool, const PoolQuestion& question)
      : pool_(pool), question_(question), deadline_(steady_now() + question.patience) {}

  Result<PoolAnswer> run() {
    asio::co_spawn(io_, call(), rethrow);
    io_.run_until(time_point(deadline_));
    if (failure_) return tl::unexpected<Error>(*failure_);
    if (answered_) return answer_;
    return tl::unexpected<Error>(unreachable(
        pool_, fmt::format("it did not answer within {:.1f} s", seconds(question_.patience))));
  }

  void heard(Link&, Time) override {}
  void sent(Link&, Time) override {}
  void drained(Link& link, Time) override { link.flush(); }
  void broken(Link& link, const Error& why, Time) override {
    settle(link, Error{why.code, fmt::format("{} speaks, but not as a pool of this version: {}",
                                             pool_.url(), why.detail)});
  }
  void received(Link& link, wire::Message&& message, std::size_t, Time) override {
    if (auto* welcome = std::get_if<wire::Welcome>(&message)) {
      answer_.welcome = std::move(*welcome);
      say(link, wire::StatusRequest{});
    } else if (auto* report = std::get_if<wire::StatusReport>(&message)) {
      answer_.status = std::move(*report);
      measure_or_settle(link);
    } else if (std::holds_alternative<wire::Echo>(message)) {
      answer_.round_trips.push_back(steady_now() - asked_at_);
      measure_or_settle(link);
    } else if (const auto* refused = std::get_if<wire::Refused>(&message)) {
      settle(link, Error{static_cast<Errc>(refused->code), "the pool said: " + refused->reason});
    } else if (const auto* bye = std::get_if<wire::Bye>(&message)) {
      settle(link, unreachable(pool_, "it was just closing: " + bye->reason));
    }
  }

 private:
  asio::awaitable<void> call() {
    auto socket = co_await dialer_.dial(pool_, deadline_);
    if (!socket) {
      failure_ = unreachable(pool_, socket.error().detail);
      co_return;
    }
    LinkOptions options;
    options.limits = wire::Limits::for_caller();
    auto link = std::make_shared<Link>(std::move(*socket), options, buffers_, *this, lookout_);
    wire::Hello hello;
    hello.role = wire::Role::kObserver;
    hello.program_version = WIDE_VERSION;
    say(*link, std::move(hello));
    link->flush();
    co_await Link::run(link);
    if (!answered_ && !failure_) failure_ = unreachable(pool_, link->why().detail);
  }

  static void say(Link& link, wire::Message message) {
    link.send(std::make_shared<const wire::Packet>(wire::encode(std::move(message))));
  }

  void measure_or_settle(Link& link) {
    if (answer_.round_trips.size() < question_.round_trips) {
      asked_at_ = steady_now();
      return say(link, wire::Echo{answer_.round_trips.size(), ""});
    }
    answered_ = true;
    settle(link, std::nullopt);
  }

  void settle(Link& link, std::optional<Error> failure) {
    failure_ = std::move(failure);
    link.fail({Errc::kLinkLost, "all was said"});
  }

  asio::io_context io_{1};
  Endpoint pool_;
  PoolQuestion question_;
  Time deadline_;
  Time asked_at_{};
  BufferPool buffers_;
  Lookout lookout_{io_};
  Dialer dialer_{io_};
  PoolAnswer answer_;
  bool answered_ = false;
  std::optional<Error> failure_;
};

}  // namespace

Result<PoolAnswer> ask_pool(const Endpoint& pool, const PoolQuestion& question) {
  return PoolCall(pool, question).run();
}

}  // namespace wide::net
