#include "wide/net/vault.h"

#include <new>
#include <utility>

#include <asio/post.hpp>

#include "wide/net/signal_block.h"
#include "wide/net/steady.h"

namespace wide::net {

namespace {

// No memory for it now is no reason to end: it will be due again.
Result<bool> step_of(history::Chore& chore) {
  try {
    return chore.step();
  } catch (const std::bad_alloc&) {
    return fail(Errc::kMachine, "there was no memory for it");
  }
}

}  // namespace

Vault::Vault(asio::io_context& io, history::Keeper keeper, VaultOutlets outlets)
    : io_(io), keeper_(std::move(keeper)), outlets_(std::move(outlets)) {
  const SignalBlock none;  // signals are for the I/O thread
  thread_ = std::thread([this] { work(); });
}

Vault::~Vault() { stop_working(); }

void Vault::append(engine::LedgerRecord record) {
  unwritten_.push_back(std::move(record));
  if (unwritten_.size() == 1) try_again();
}

void Vault::try_again() {
  while (!unwritten_.empty() && !failed_) {
    const auto outcome = keeper_.append(unwritten_.front());
    if (!outcome && outcome.error().code == Errc::kSyncFailed) {
      failed_ = true;
      outlets_.fatal(outcome.error());
      return;
    }
    if (!outcome) {
      outlets_.held(outcome.error());
      return;
    }
    const engine::LedgerRecord record = std::move(unwritten_.front());
    unwritten_.pop_front();
    outlets_.written(record);
  }
}

bool Vault::look_after(const engine::Pool& pool, Time now) {
  if (failed_) return false;
  if (auto chore = keeper_.sync_chore()) begin(sync_, std::move(chore));
  if (!keeper_.slow_chore_due(now)) return false;
  auto chore = keeper_.slow_chore(pool, now);
  if (!chore && chore.error().code == Errc::kSyncFailed) {
    failed_ = true;
    outlets_.fatal(chore.error());
  } else if (!chore) {
    outlets_.chore_failed(chore.error());
  } else if (*chore) {
    begin(slow_, std::move(*chore));
    return true;
  }
  return false;
}

void Vault::begin(std::unique_ptr<history::Chore>& place, std::unique_ptr<history::Chore> chore) {
  {
    const std::lock_guard lock(mutex_);
    place = std::move(chore);
  }
  changed_.notify_one();
}

// The thread: one step of the most urgent thing, then look again.
void Vault::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || sync_ || slow_; });
    if (stopping_) return;
    auto& place = sync_ ? sync_ : slow_;
    auto chore = std::move(place);
    lock.unlock();
    Result<bool> result = step_of(*chore);
    lock.lock();
    if (result && !*result) {
      place = std::move(chore);
      continue;
    }
    // Handed back and freed on the I/O thread: the replica it holds may be written again only by
    // who knows that nobody reads it.
    auto outcome = std::make_shared<Outcome>(Outcome{std::move(chore), std::move(result)});
    asio::post(io_, [this, outcome] { ended(std::move(*outcome)); });
  }
}

void Vault::ended(Outcome outcome) {
  const bool checkpoint = std::string_view(outcome.chore->name()) == "checkpoint";
  keeper_.ended(std::move(outcome.chore), outcome.result, steady_now());
  if (outcome.result) {
    if (checkpoint) outlets_.checkpointed(keeper_.newest_checkpoint().value_or(0));
    return;
  }
  if (failed_) return;
  if (outcome.result.error().code == Errc::kSyncFailed) {
    failed_ = true;
    outlets_.fatal(outcome.result.error());
  } else {
    outlets_.chore_failed(outcome.result.error());
  }
}

void Vault::stop_working() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

// A commit that still waits was given up by the pool, which stopped at the one before. An
// evaluation, or the stop of a run by the clock, is part of what the summary will say.
Result<void> Vault::close() {
  stop_working();
  std::erase_if(unwritten_, [](const engine::LedgerRecord& record) {
    return std::holds_alternative<engine::CommitRecord>(record);
  });
  for (; !unwritten_.empty() && !failed_; unwritten_.pop_front()) {
    if (auto written = keeper_.append(unwritten_.front()); !written) return written;
  }
  return failed_ ? Result<void>() : keeper_.close();
}

}  // namespace wide::net
