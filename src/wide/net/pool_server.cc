#include "wide/net/pool_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/redirect_error.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>

#include "wide/base/log.h"
#include "wide/net/journal.h"
#include "wide/net/lender.h"
#include "wide/net/link.h"
#include "wide/net/listener.h"
#include "wide/net/rethrow.h"
#include "wide/net/steady.h"
#include "wide/net/vault.h"

namespace wide::net {

using asio::ip::tcp;

namespace {

constexpr std::size_t kOutboxBytesLeast = 128u << 20;
constexpr int kTurnsAtOnce = 4;
constexpr Duration kRetryEvery = std::chrono::milliseconds(200);

// A node that joins may be owed a snapshot and a ring of updates at once.
std::size_t outbox_bytes(const engine::Pool& pool, std::size_t asked) {
  if (asked != 0) return asked;
  // Samples that travel with leases are bounded by a node's credits, and lie in the mapped files.
  if (pool.job().samples.ship == engine::Ship::kAlways) {
    return std::numeric_limits<std::size_t>::max() / 4;
  }
  const auto state_bytes = engine::state_count(pool.job(), pool.layout()) * sizeof(float);
  return kOutboxBytesLeast + 4 * state_bytes;
}

}  // namespace

class PoolServer::Impl final : public LinkOwner {
 public:
  Impl(engine::Pool& pool, PoolServerOptions options, PoolWatcher watcher,
       store::RunFolder* folder);

  std::optional<Error> run();
  void keep(history::Keeper keeper, bool resumed);
  void stop(std::string reason);
  void abandon() { io_.stop(); }
  const Endpoint& bound() const { return listener_.bound(); }
  bool interrupted() const { return interrupted_; }

  void heard(Link& link, Time now) override { pool_.heard(link.id(), now); }
  void received(Link& link, wire::Message&& message, std::size_t wire_bytes, Time now) override;
  void drained(Link&, Time) override {}  // answers leave together, once some links are read
  void sent(Link& link, Time now) override;
  void broken(Link& link, const Error& why, Time now) override;
  void saved(Link& link, std::size_t bytes) override { pool_.saved(link.id(), bytes, 0); }
  void changed(Link& link, const codec::Change& change) override;

 private:
  asio::awaitable<void> accept_loop();
  asio::awaitable<void> serve(std::shared_ptr<Link> link);
  asio::awaitable<void> progress_loop();
  asio::awaitable<void> signal_loop();
  void open(tcp::socket socket);

  VaultOutlets vault_outlets();
  void written(const engine::LedgerRecord& record);
  void held(const Error& why);
  void say(engine::Note::Weight weight, const char* event, std::string facts);
  void carry_out(Time now);
  void on(engine::Send& send, Time now);
  void on(engine::SendManifest& send, Time now);
  void on(engine::SendChunk& send, Time now);
  void on(engine::SendSamples& send, Time now);
  void on(engine::SetLimits& limits, Time now);
  void on(engine::Close& close, Time now);
  void on(engine::Append& append, Time now);
  void on(engine::Note& note, Time now);
  void on(engine::Evaluated& evaluated, Time now);
  void on(engine::Finished& finished, Time now);

  void ship(LinkId link, wire::SharedPacket packet);
  void lend(Time now);
  void lend_one(const Lender::Turn& turn, Time now);
  void watch_samples(Time now);

  void settle(Time now);
  void flush_dirty();
  void arm_tick(Time now);
  void wind_down();
  Link* find(LinkId link);
  bool over() const { return finished_ && links_.empty(); }

  asio::io_context io_{ASIO_CONCURRENCY_HINT_UNSAFE_IO};  // other threads post to it, no more
  // Answers leave together, behind a few links that were ready to be read: whoever gets the first
  // is awake for the others, and waking it is most of what a small answer costs.
  Lookout lookout_{io_, [this] { settle(steady_now()); }};
  engine::Pool& pool_;
  PoolServerOptions options_;
  PoolWatcher watcher_;
  Journal journal_;
  Lender lender_;
  BufferPool buffers_;
  Listener listener_;
  asio::signal_set signals_;
  asio::steady_timer tick_;
  asio::steady_timer lend_;
  asio::steady_timer progress_;
  asio::steady_timer retry_;

  std::unordered_map<LinkId, std::shared_ptr<Link>> links_;  // until their loop has ended
  std::uint64_t next_link_ = 1;
  engine::Effects effects_;   // of the event at hand; both kept for their memory
  engine::Effects carried_;   // being carried out
  std::vector<Link*> dirty_;  // links with something to flush
  std::optional<Time> tick_at_;
  std::optional<Time> lend_at_;
  Time samples_seen_at_{};
  bool finished_ = false;
  bool interrupted_ = false;
  bool said_held_ = false;
  bool resumed_ = false;
  std::optional<Error> error_;
  std::optional<Error> fatal_;
  CodingCrew crew_;  // these two last: their threads end before anything they post to
  std::unique_ptr<Vault> vault_;
};

PoolServer::Impl::Impl(engine::Pool& pool, PoolServerOptions options, PoolWatcher watcher,
                       store::RunFolder* folder)
    : pool_(pool),
      options_(std::move(options)),
      watcher_(std::move(watcher)),
      journal_(folder, steady_now()),
      lender_(options_.samples, pool.job()),
      listener_(io_, options_.listen, pool.job().net),
      signals_(io_, SIGINT, SIGTERM),
      tick_(io_),
      lend_(io_),
      progress_(io_),
      retry_(io_),
      crew_(io_, buffers_, crew_options(options_.coding_threads)) {
  options_.outbox_bytes_max = outbox_bytes(pool, options_.outbox_bytes_max);
}

std::optional<Error> PoolServer::Impl::run() {
  asio::co_spawn(io_, accept_loop(), rethrow);
  asio::co_spawn(io_, progress_loop(), rethrow);
  asio::co_spawn(io_, signal_loop(), rethrow);
  const Time now = steady_now();
  if (resumed_) pool_.resume(now, effects_);
  settle(now);
  io_.run();
  pool_.spent_on_coding(crew_.take_span());
  if (vault_ && !fatal_) {
    if (auto closed = vault_->close(); !closed) fatal_ = closed.error();
  }
  if (fatal_) throw Failure(*fatal_);
  if (watcher_.on_progress) watcher_.on_progress(pool_.progress(steady_now()));
  return error_;
}

void PoolServer::Impl::stop(std::string reason) {
  asio::post(io_, [this, reason = std::move(reason)] {
    const Time now = steady_now();
    pool_.stop(reason, now, effects_);
    settle(now);
  });
}

asio::awaitable<void> PoolServer::Impl::accept_loop() {
  for (;;) {
    auto socket = co_await listener_.accept();
    if (!socket) break;
    if (!finished_ && links_.size() < options_.socket_count_max) open(std::move(*socket));
  }
}

void PoolServer::Impl::open(tcp::socket socket) {
  const Time now = steady_now();
  LinkOptions options;
  options.id = LinkId{next_link_++};
  options.limits = wire::Limits::for_stranger();
  options.net = pool_.job().net;
  options.outbox_bytes_max = options_.outbox_bytes_max;
  auto link = std::make_shared<Link>(std::move(socket), options, buffers_, *this, lookout_);
  link->set_coding(crew_, pool_.job().codec.lossless);
  links_.emplace(link->id(), link);
  pool_.opened(link->id(), link->peer(), now, effects_);
  settle(now);
  asio::co_spawn(io_, serve(std::move(link)), rethrow);
}

asio::awaitable<void> PoolServer::Impl::serve(std::shared_ptr<Link> link) {
  co_await Link::run(link);
  const Time now = steady_now();
  links_.erase(link->id());
  std::erase(dirty_, link.get());
  pool_.spent_on_coding(link->take_decode_span());
  lender_.forget(link->id());
  // Where the pool closed the link itself it has forgotten it, and this says nothing new.
  pool_.closed(link->id(), link->why(), now, effects_);
  settle(now);
}

asio::awaitable<void> PoolServer::Impl::progress_loop() {
  std::error_code cancelled;
  while (!finished_ && watcher_.on_progress) {
    progress_.expires_after(options_.progress_every);
    co_await progress_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
    if (!cancelled) watcher_.on_progress(pool_.progress(steady_now()));
  }
}

asio::awaitable<void> PoolServer::Impl::signal_loop() {
  if (over()) co_return;  // stopped before it had begun
  std::error_code cancelled;
  co_await signals_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
  if (cancelled) co_return;
  interrupted_ = true;
  const Time now = steady_now();
  pool_.stop("interrupted", now, effects_);
  settle(now);
  if (over()) co_return;
  co_await signals_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
  if (!cancelled) io_.stop();
}

void PoolServer::Impl::received(Link& link, wire::Message&& message, std::size_t wire_bytes,
                                Time now) {
  if (fatal_) return;
  if (link.last_message_saved() > 0) pool_.saved(link.id(), 0, link.last_message_saved());
  pool_.received(link.id(), std::move(message), wire_bytes, now, effects_);
  carry_out(now);  // before the next message is decoded: its limits may have changed
}

void PoolServer::Impl::broken(Link& link, const Error& why, Time now) {
  if (fatal_) return link.fail(why);
  pool_.broken(link.id(), why, now, effects_);
  carry_out(now);
  link.finish(options_.farewell_max);  // already so where the pool refused it
}

// Always kept, but shown only to those who asked for every detail.
void PoolServer::Impl::changed(Link& link, const codec::Change& change) {
  engine::Note note{engine::Note::Weight::kNormal, "codec changed",
                    fmt::format("link={} {}", pool_.name_of(link.id()), described(change))};
  journal_.record(note, steady_now());
  note.weight = engine::Note::Weight::kDetail;
  if (watcher_.on_note) watcher_.on_note(note);
}

void PoolServer::Impl::settle(Time now) {
  carry_out(now);
  if (fatal_) return;
  flush_dirty();
  if (finished_) {
    wind_down();
  } else {
    lend(now);
    arm_tick(now);
  }
}

// Carrying out an effect may bring more of them: a commit that is written is followed by leases.
void PoolServer::Impl::carry_out(Time now) {
  while (!effects_.empty() && !fatal_) {
    std::swap(effects_, carried_);
    for (auto& effect : carried_) {
      if (fatal_) break;
      std::visit([&](auto& body) { on(body, now); }, effect);
    }
    carried_.clear();
  }
}

void PoolServer::Impl::flush_dirty() {
  for (Link* link : dirty_) link->flush();
  dirty_.clear();
}

Link* PoolServer::Impl::find(LinkId link) {
  const auto found = links_.find(link);
  return found == links_.end() ? nullptr : found->second.get();
}

void PoolServer::Impl::on(engine::Send& send, Time) {
  Link* link = find(send.link);
  if (link == nullptr || !link->open() || link->finishing()) return;
  link->send(std::move(send.packet));
  if (link->queued_bytes() > 2 * options_.outbox_bytes_max) {  // flush() is too late for a flood
    link->fail({Errc::kLinkLost, "it asks for more than it reads"});
    return;
  }
  if (link->mark_dirty()) dirty_.push_back(link);
}

// Samples for those who lack them.

void PoolServer::Impl::on(engine::SendManifest& send, Time) { ship(send.link, lender_.manifest()); }

void PoolServer::Impl::on(engine::SendSamples& send, Time) {
  ship(send.link, lender_.samples(send));
}

void PoolServer::Impl::ship(LinkId id, wire::SharedPacket packet) {
  pool_.shipped(id, wire::wire_bytes(*packet), false);
  engine::Send send{id, std::move(packet)};
  on(send, {});
}

void PoolServer::Impl::on(engine::SendChunk& send, Time) { lender_.ask(send.link, send.chunk); }

// A few chunks, then the others get their turn; the timer brings us back for the rest.
void PoolServer::Impl::lend(Time now) {
  for (int turns = 0; turns < kTurnsAtOnce; ++turns) {
    const auto turn = lender_.next(now, pool_.training());
    if (!turn) break;
    lend_one(*turn, now);
  }
  const auto due = lender_.due(now);
  if (!due || (lend_at_ && *lend_at_ <= *due)) return;
  lend_at_ = due;
  lend_.expires_at(time_point(*due));
  lend_.async_wait([this](const std::error_code& cancelled) {
    if (cancelled || finished_) return;
    lend_at_.reset();
    settle(steady_now());
  });
}

void PoolServer::Impl::lend_one(const Lender::Turn& turn, Time now) {
  Link* link = find(turn.link);
  if (link == nullptr || !link->open() || link->finishing()) return lender_.forget(turn.link);
  const Time start = steady_now();
  auto packet = lender_.chunk(turn.chunk);
  pool_.shipped(turn.link, wire::wire_bytes(*packet), true);
  link->send(std::move(packet));
  link->flush();
  if (link->queued_bytes() == 0) {
    lender_.sent(turn.link, steady_now() - start, now, pool_.training());
  } else {
    link->take_network_span();  // from here on it is counted until all of it is gone
  }
}

void PoolServer::Impl::sent(Link& link, Time now) {
  lender_.sent(link.id(), link.take_network_span(), now, pool_.training());
  lend(now);
}

void PoolServer::Impl::watch_samples(Time now) {
  if (!options_.samples || now - samples_seen_at_ < std::chrono::seconds(1)) return;
  samples_seen_at_ = now;
  if (auto same = options_.samples->unchanged(); !same) pool_.fail(same.error(), now, effects_);
}

void PoolServer::Impl::on(engine::SetLimits& limits, Time) {
  if (Link* link = find(limits.link)) link->set_limits(limits.limits);
}

void PoolServer::Impl::on(engine::Close& close, Time) {
  Link* link = find(close.link);
  if (link == nullptr) return;
  log::detail("link closed peer={} reason={}", link->peer(), close.why.detail);
  link->finish(options_.farewell_max);
}

// The ledger.

void PoolServer::Impl::keep(history::Keeper keeper, bool resumed) {
  resumed_ = resumed;
  vault_ = std::make_unique<Vault>(io_, std::move(keeper), vault_outlets());
}

VaultOutlets PoolServer::Impl::vault_outlets() {
  using Weight = engine::Note::Weight;
  VaultOutlets outlets;
  outlets.written = [this](const engine::LedgerRecord& record) { written(record); };
  outlets.held = [this](const Error& why) { held(why); };
  outlets.checkpointed = [this](Step step) {
    say(Weight::kDetail, "checkpoint written", fmt::format("step={}", step));
  };
  outlets.chore_failed = [this](const Error& why) {
    say(Weight::kWarning, "checkpoint not written", describe(why));
  };
  // Nobody may be told anything from here on: who knows what is on the disk.
  outlets.fatal = [this](const Error& why) {
    fatal_ = why;
    lookout_.halt();
    io_.stop();
  };
  return outlets;
}

void PoolServer::Impl::on(engine::Append& append, Time) {
  if (vault_) {
    vault_->append(std::move(append.record));
  } else {
    written(append.record);
  }
}

void PoolServer::Impl::written(const engine::LedgerRecord& record) {
  const auto* commit = std::get_if<engine::CommitRecord>(&record);
  if (commit == nullptr) return;
  const Time now = steady_now();
  pool_.appended(now, effects_);
  if (journal_.committed(*commit, now)) journal_.record_step(pool_.progress(now), now);
  const Time began = steady_now();
  if (vault_ && vault_->look_after(pool_, began)) {
    say(engine::Note::Weight::kDetail, "disk work begun",
        fmt::format("step={} training_stood_us={}", pool_.replica().step(),
                    (steady_now() - began).count() / 1000));
  }
  if (std::exchange(said_held_, false)) {
    say(engine::Note::Weight::kNormal, "disk has room again", "the run goes on");
  }
}

void PoolServer::Impl::held(const Error& why) {
  pool_.hold(describe(why));
  if (!std::exchange(said_held_, true)) {
    say(engine::Note::Weight::kWarning, "ledger cannot be written",
        describe(why) + "; no work is handed out, nodes stay, and it is tried again and again");
  }
  retry_.expires_after(kRetryEvery);
  retry_.async_wait([this](const std::error_code& cancelled) {
    if (cancelled || finished_) return;
    vault_->try_again();
    settle(steady_now());
  });
}

void PoolServer::Impl::say(engine::Note::Weight weight, const char* event, std::string facts) {
  engine::Note note{weight, event, std::move(facts)};
  on(note, steady_now());
}

void PoolServer::Impl::on(engine::Note& note, Time now) {
  journal_.record(note, now);
  if (watcher_.on_note) watcher_.on_note(note);
}

void PoolServer::Impl::on(engine::Evaluated& evaluated, Time now) {
  journal_.record(evaluated, now);
  if (watcher_.on_evaluated) watcher_.on_evaluated(evaluated);
}

void PoolServer::Impl::on(engine::Finished& finished, Time now) {
  finished_ = true;
  error_ = std::move(finished.error);
  if (journal_.step_waits()) journal_.record_step(pool_.progress(now), now);
}

// Armed anew only where the time to tick has come nearer: a step of a small model takes less time
// than setting a timer for each of its results would.
void PoolServer::Impl::arm_tick(Time now) {
  const Time due = std::max(pool_.next_tick(now), now + std::chrono::milliseconds(1));
  if (tick_at_ && *tick_at_ <= due) return;
  tick_at_ = due;
  tick_.expires_at(time_point(due));
  tick_.async_wait([this](const std::error_code& cancelled) {
    if (cancelled || finished_) return;
    tick_at_.reset();
    const Time late = steady_now();
    pool_.tick(late, effects_);
    watch_samples(late);
    settle(late);
  });
}

// Everyone has been told; the loops end one by one, and with the last of them io_.run().
void PoolServer::Impl::wind_down() {
  listener_.close();
  tick_.cancel();
  retry_.cancel();
  lend_.cancel();
  progress_.cancel();
  for (auto& [id, link] : links_) link->finish(options_.farewell_max);
  if (over()) signals_.cancel();
}

PoolServer::PoolServer(engine::Pool& pool, PoolServerOptions options, PoolWatcher watcher,
                       store::RunFolder* folder)
    : impl_(std::make_unique<Impl>(pool, std::move(options), std::move(watcher), folder)) {}
PoolServer::~PoolServer() = default;

void PoolServer::keep(history::Keeper keeper, bool resumed) {
  impl_->keep(std::move(keeper), resumed);
}
const Endpoint& PoolServer::bound() const { return impl_->bound(); }
std::optional<Error> PoolServer::run() { return impl_->run(); }
bool PoolServer::interrupted() const { return impl_->interrupted(); }
void PoolServer::stop(std::string reason) { impl_->stop(std::move(reason)); }
void PoolServer::abandon() { impl_->abandon(); }

}  // namespace wide::net
