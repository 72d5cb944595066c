#include "wide/net/node_client.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/redirect_error.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>

#include "wide/base/log.h"
#include "wide/net/backoff.h"
#include "wide/net/dialer.h"
#include "wide/net/link.h"
#include "wide/net/rethrow.h"
#include "wide/net/slots.h"
#include "wide/net/steady.h"
#include "wide/net/supply.h"

namespace wide::net {

using asio::ip::tcp;

namespace {

constexpr Duration kDialMax = std::chrono::seconds(5);
constexpr Duration kFirstContactEvery = std::chrono::milliseconds(200);
constexpr Duration kRemindEvery = std::chrono::seconds(30);

}  // namespace

class NodeClient::Impl final : public LinkOwner {
 public:
  Impl(NodeClientOptions options, Tools tools);

  void run();
  void leave(std::string reason);
  bool interrupted() const { return interrupted_; }
  Report report() const;

  void heard(Link&, Time) override {}
  void received(Link& link, wire::Message&& message, std::size_t wire_bytes, Time now) override;
  void drained(Link& link, Time now) override;
  void sent(Link&, Time) override {}
  void broken(Link& link, const Error& why, Time now) override;
  void changed(Link& link, const codec::Change& change) override;

 private:
  asio::awaitable<void> live();
  asio::awaitable<void> serve(tcp::socket socket);
  asio::awaitable<void> pause_before_dialling();
  asio::awaitable<void> heartbeat_loop();
  asio::awaitable<void> signal_loop();
  asio::awaitable<void> first_contact_watch();

  SlotOutcomes outcomes();
  Supply::Outlets supply_outlets();
  void supply(wire::Message& message);
  void tell_prepared();
  enum class Flush { kNow, kLater };
  void settle(Flush flush = Flush::kNow);
  void on(engine::Prepare& prepare);
  template <class Work>
  void begin(Work& work);
  void on(engine::Compute& work) { begin(work); }
  void on(engine::ComputeEval& work) { begin(work); }
  void on(engine::MeasureSlots& work) { slots_.measure(std::move(work)); }
  void on(engine::NodeSend& send);
  void on(engine::NodeSetLimits& limits);
  void on(engine::Hangup& hangup);
  void on(engine::NodeNote& note);

  void begin_leaving(const std::string& reason);
  void give_up(std::optional<Error> failure);
  void end();
  void note_times();
  void check_silence(Time now);
  void check_samples();
  void remind(Time now);

  asio::io_context io_{1};
  Lookout lookout_{io_};
  NodeClientOptions options_;
  BufferPool buffers_;
  engine::Node node_;
  Dialer dialer_{io_};
  asio::signal_set signals_{io_, SIGINT, SIGTERM};
  asio::steady_timer pause_{io_};
  asio::steady_timer heartbeat_{io_};
  asio::steady_timer first_contact_{io_};
  asio::steady_timer farewell_{io_};
  Backoff backoff_{std::random_device{}()};

  std::shared_ptr<Link> link_;   // null while there is none
  engine::NodeEffects effects_;  // of the event at hand; kept for its memory
  const Workshop* workshop_ = nullptr;
  bool told_prepared_ = false;
  bool welcomed_ = false;   // on this link
  bool contacted_ = false;  // a pool has spoken to us, once
  bool said_waiting_ = false;
  bool leaving_ = false;
  bool over_ = false;
  bool interrupted_ = false;
  std::string last_trouble_ = "it does not answer";
  Time waits_since_ = steady_now();
  Time reminded_at_ = steady_now();
  Time first_contact_until_{};
  std::optional<Error> failure_;
  Supply supply_;
  CodingCrew crew_;  // these two last: their threads end before anything they post to
  Slots slots_;
};

NodeClient::Impl::Impl(NodeClientOptions options, Tools tools)
    : options_(std::move(options)),
      node_(options_.node, buffers_),
      supply_(io_,
              std::make_shared<data::ChunkCache>(options_.cache_folder.empty()
                                                     ? options_.cache_folder
                                                     : options_.cache_folder / "chunks",
                                                 options_.cache_bytes_max),
              4u * options_.node.slots + 8u,  // twice the credits that a node can have
              supply_outlets()),
      crew_(io_, buffers_, crew_options(options_.coding_threads)),
      slots_(io_, options_, std::move(tools), supply_, buffers_, outcomes()) {}

void NodeClient::Impl::run() {
  first_contact_until_ = steady_now() + options_.first_contact_max;
  asio::co_spawn(io_, live(), rethrow);
  asio::co_spawn(io_, heartbeat_loop(), rethrow);
  asio::co_spawn(io_, signal_loop(), rethrow);
  asio::co_spawn(io_, first_contact_watch(), rethrow);
  io_.run();
  if (failure_) throw Failure(*failure_);
}

void NodeClient::Impl::leave(std::string reason) {
  asio::post(io_, [this, reason = std::move(reason)] { begin_leaving(reason); });
}

// Dialling, and what comes of it.

asio::awaitable<void> NodeClient::Impl::live() {
  while (!over_) {
    const Time until = contacted_ ? steady_now() + kDialMax : first_contact_until_;
    auto socket = co_await dialer_.dial(options_.pool, until);
    if (over_) break;
    if (socket) {
      co_await serve(std::move(*socket));
    } else {
      last_trouble_ = socket.error().detail;
    }
    if (leaving_) over_ = true;
    if (!over_) co_await pause_before_dialling();
  }
  end();
}

asio::awaitable<void> NodeClient::Impl::serve(tcp::socket socket) {
  LinkOptions options;
  options.limits = wire::Limits::for_caller();
  options.timed = true;
  // What waits here is bounded by the leases this node asked for, however large the model is.
  options.outbox_bytes_max = std::numeric_limits<std::size_t>::max();
  if (workshop_ != nullptr) options.net = workshop_->job.net;
  supply_.add_limits(options.limits);  // what the last link was to bring may come now
  link_ = std::make_shared<Link>(std::move(socket), options, buffers_, *this, lookout_);
  if (workshop_ != nullptr) link_->set_coding(crew_, workshop_->job.codec.lossless);
  last_trouble_ = "it took the call, but does not answer";
  node_.connected(steady_now(), effects_);
  settle();
  co_await Link::run(link_);
  note_times();
  last_trouble_ = link_->why().detail;
  link_.reset();
  welcomed_ = false;
  supply_.unlinked();
  node_.closed(steady_now());
  waits_since_ = reminded_at_ = steady_now();
  tell_prepared();
}

asio::awaitable<void> NodeClient::Impl::pause_before_dialling() {
  if (contacted_ && backoff_.fresh()) {  // said once per break
    log::info("link to the pool lost pool={} reason={}; dialling again until it is back",
              options_.pool.url(), last_trouble_);
  }
  const Duration wait = contacted_ ? backoff_.next() : kFirstContactEvery;
  std::error_code cancelled;
  pause_.expires_after(wait);
  co_await pause_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
}

asio::awaitable<void> NodeClient::Impl::first_contact_watch() {
  if (over_) co_return;
  std::error_code cancelled;
  first_contact_.expires_at(time_point(first_contact_until_));
  co_await first_contact_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
  if (cancelled || contacted_ || over_) co_return;
  give_up(unreachable(options_.pool, fmt::format("{} (for {:.1f} s)", last_trouble_,
                                                 seconds(options_.first_contact_max))));
}

asio::awaitable<void> NodeClient::Impl::heartbeat_loop() {
  std::error_code cancelled;
  while (!over_) {
    heartbeat_.expires_after(options_.heartbeat);
    co_await heartbeat_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
    if (over_) break;
    const Time now = steady_now();
    note_times();
    if (!leaving_) node_.tick(now, effects_);
    settle();
    check_silence(now);
    check_samples();
    remind(now);
  }
}

asio::awaitable<void> NodeClient::Impl::signal_loop() {
  if (over_) co_return;  // told to leave before it had begun
  std::error_code cancelled;
  co_await signals_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
  if (cancelled) co_return;
  interrupted_ = true;
  begin_leaving("interrupted");
  if (over_ && !link_) co_return;
  co_await signals_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
  if (!cancelled) io_.stop();
}

// What the link says.

void NodeClient::Impl::received(Link&, wire::Message&& message, std::size_t, Time now) {
  if (std::holds_alternative<wire::Welcome>(message)) {
    welcomed_ = true;
    backoff_.reset();
    supply_.linked();
  }
  contacted_ = true;
  supply(message);
  node_.received(std::move(message), now, effects_);
  settle(Flush::kLater);  // drained() comes next
  tell_prepared();
}

void NodeClient::Impl::drained(Link& link, Time now) {
  node_.drained(now, effects_);
  settle(Flush::kLater);
  if (!node_.may_wait()) link.flush();
}

// Samples, and leases that will need some: they are fetched while the lease waits for a slot.
void NodeClient::Impl::supply(wire::Message& message) {
  if (auto* manifest = std::get_if<wire::Manifest>(&message)) supply_.received(*manifest);
  if (auto* chunk = std::get_if<wire::Chunk>(&message)) supply_.received(*chunk);
  if (auto* samples = std::get_if<wire::Samples>(&message)) supply_.received(*samples);
  if (const auto* lease = std::get_if<wire::Lease>(&message)) supply_.expect(*lease);
  if (const auto* lease = std::get_if<wire::EvalLease>(&message)) supply_.expect(*lease);
}

void NodeClient::Impl::broken(Link& link, const Error& why, Time) {
  if (!contacted_) {
    failure_ = Error{why.code, fmt::format("{} speaks, but not as a pool of this version: {}",
                                           options_.pool.url(), why.detail)};
    over_ = true;
  }
  link.fail(why);
}

void NodeClient::Impl::changed(Link&, const codec::Change& change) {
  log::detail("codec changed link={} {}", options_.pool.url(), described(change));
}

// What the node wants.

void NodeClient::Impl::settle(Flush flush) {
  for (auto& effect : effects_) {
    std::visit([this](auto& body) { on(body); }, effect);
  }
  effects_.clear();
  if (link_ && flush == Flush::kNow) link_->flush();
}

void NodeClient::Impl::on(engine::Prepare& prepare) {
  if (!options_.quiet) log::info("samples being opened job={}", prepare.job.name);
  slots_.prepare(std::move(prepare));
}

template <class Work>
void NodeClient::Impl::begin(Work& work) {
  const auto lease = work.lease;
  supply_.when_at_hand(lease, [this, work = std::move(work)](Supply::Hold hold) mutable {
    slots_.compute(std::move(work), std::move(hold));
  });
}

Supply::Outlets NodeClient::Impl::supply_outlets() {
  Supply::Outlets outlets;
  outlets.send = [this](wire::Message message) {
    if (!link_ || !link_->open() || link_->finishing()) return;
    link_->send(std::make_shared<const wire::Packet>(wire::encode(std::move(message))));
    link_->flush();
  };
  outlets.limits_changed = [this] {
    wire::Limits limits = wire::Limits::for_caller();
    supply_.add_limits(limits);
    if (link_) link_->set_limits(limits);
  };
  // Posted: it may be said while an effect is carried out, and leaving makes more of them.
  outlets.failed = [this](const Error& error) {
    asio::post(io_, [this, error] {
      if (!failure_) failure_ = error;
      begin_leaving(describe(error).substr(0, 512));
    });
  };
  return outlets;
}

void NodeClient::Impl::on(engine::NodeSend& send) {
  if (link_ && link_->open() && !link_->finishing()) link_->send(std::move(send.packet));
}

void NodeClient::Impl::on(engine::NodeSetLimits& limits) {
  supply_.add_limits(limits.limits);
  if (link_) link_->set_limits(limits.limits);
}

void NodeClient::Impl::on(engine::Hangup& hangup) {
  if (hangup.final) {
    over_ = true;
    if (!failure_) failure_ = std::move(hangup.error);
  } else if (hangup.error) {
    log::info("hanging up pool={} reason={}", options_.pool.url(), describe(*hangup.error));
  }
  if (link_) {
    link_->finish(options_.farewell_max);
  } else if (over_) {
    give_up(std::nullopt);
  }
}

void NodeClient::Impl::on(engine::NodeNote& note) {
  if (note.detail || options_.quiet) {
    log::detail("{}", note.text);
  } else {
    log::info("{}", note.text);
  }
}

SlotOutcomes NodeClient::Impl::outcomes() {
  SlotOutcomes outcomes;
  outcomes.prepared = [this](const Workshop& workshop) {
    workshop_ = &workshop;
    if (link_) {
      link_->set_net(workshop.job.net);
      link_->set_coding(crew_, workshop.job.codec.lossless);
    }
    tell_prepared();
  };
  outcomes.computed = [this](engine::TaskId task, engine::LeaseOutcome outcome, Duration span) {
    note_times();
    node_.computed(task, std::move(outcome), span, steady_now(), effects_);
    // Each write wakes the pool; it can do nothing before it has the rest of the step.
    settle(Flush::kLater);
    if (!link_ || node_.may_wait()) return;
    link_->flush();
    // What came while the slot was at work says what to do next, and need not wait for its turn.
    if (link_) link_->look();
  };
  outcomes.computed_eval = [this](engine::TaskId task, std::vector<wire::EvalRow> rows,
                                  Duration span) {
    node_.computed_eval(task, std::move(rows), span, steady_now(), effects_);
    settle();
  };
  outcomes.measured = [this](std::uint64_t units, Duration span) {
    node_.measured(units, span, steady_now(), effects_);
    settle();
  };
  outcomes.helped = [this](Duration span) { node_.helped(1, span); };
  outcomes.look = [this] {
    if (link_) link_->look();
  };
  outcomes.failed = [this](const Error& error) {
    if (!failure_) failure_ = error;
    begin_leaving(describe(error).substr(0, 512));
  };
  return outcomes;
}

// The node says Ready at once, so it must hear of it on a link that has had its Welcome, or on
// none.
void NodeClient::Impl::tell_prepared() {
  if (workshop_ == nullptr || told_prepared_ || over_ || (link_ && !welcomed_)) return;
  told_prepared_ = true;
  node_.prepared(workshop_->samples->space(), workshop_->genesis, workshop_->libraries,
                 workshop_->class_hash, steady_now(), effects_);
  settle();
}

// The end.

void NodeClient::Impl::begin_leaving(const std::string& reason) {
  if (leaving_ || over_) return;
  leaving_ = true;
  slots_.end();
  if (!link_) return give_up(std::nullopt);
  farewell_.expires_after(options_.farewell_max);
  farewell_.async_wait([this](const std::error_code& cancelled) {
    if (!cancelled) give_up(std::nullopt);
  });
  node_.leave(reason, steady_now(), effects_);
  settle();
}

void NodeClient::Impl::give_up(std::optional<Error> failure) {
  if (failure && !failure_) failure_ = std::move(failure);
  over_ = true;
  dialer_.cancel();
  pause_.cancel();
  if (link_) link_->fail({Errc::kLinkLost, "given up"});
}

// Nothing is left to wait for: with these the last loops end, and run() with them.
void NodeClient::Impl::end() {
  supply_.end();
  slots_.end();
  heartbeat_.cancel();
  first_contact_.cancel();
  farewell_.cancel();
  signals_.cancel();
}

NodeClient::Report NodeClient::Impl::report() const {
  return {node_.job() == nullptr ? "" : node_.job()->name, node_.name(), node_.units_done(),
          supply_.fetched_count(), supply_.fetched_bytes()};
}

void NodeClient::Impl::note_times() {
  node_.spent_on_coding(crew_.take_span());
  if (!link_) return;
  node_.spent_on_network(link_->take_network_span());
  node_.spent_on_coding(link_->take_decode_span());
}

void NodeClient::Impl::check_silence(Time now) {
  if (!link_ || now - link_->heard_at() <= options_.silence_max) return;
  link_->fail({Errc::kPeerSilent,
               fmt::format("nothing was heard for {:.1f} s", seconds(options_.silence_max))});
}

// Gradients of files that have changed are gradients of something else.
void NodeClient::Impl::check_samples() {
  if (workshop_ == nullptr || leaving_) return;
  const auto same = workshop_->samples->unchanged();
  if (same) return;
  if (!failure_) failure_ = same.error();
  begin_leaving(describe(same.error()).substr(0, 512));
}

// Nobody waits for long without being told what for.
void NodeClient::Impl::remind(Time now) {
  if (contacted_ ? link_ != nullptr : options_.quiet) return;
  const bool first = !contacted_ && !said_waiting_;
  if (!first && now - reminded_at_ < kRemindEvery) return;
  said_waiting_ = true;
  reminded_at_ = now;
  log::info("waiting for the pool pool={} for={:.0f}s last={}", options_.pool.url(),
            seconds(now - waits_since_), last_trouble_);
}

NodeClient::NodeClient(NodeClientOptions options, Tools tools)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(tools))) {}
NodeClient::~NodeClient() = default;

void NodeClient::run() { impl_->run(); }
NodeClient::Report NodeClient::report() const { return impl_->report(); }
bool NodeClient::interrupted() const { return impl_->interrupted(); }
void NodeClient::leave(std::string reason) { impl_->leave(std::move(reason)); }

}  // namespace wide::net
