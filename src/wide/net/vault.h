#pragma once
// The pool's memory on the disk, beside its I/O thread: records are appended on that thread, syncs
// and checkpoints wait for the disk on a thread of their own, in small steps, a sync before the
// next step of a checkpoint.
//
// A disk that is full is no end: what could not be written waits here, in order, and is tried
// again. A failed sync is: `fatal` is told, on the I/O thread, and nothing more is written.

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include <asio/io_context.hpp>

#include "wide/history/keeper.h"

namespace wide::net {

// All told on the I/O thread.
struct VaultOutlets {
  std::function<void(const engine::LedgerRecord&)> written;  // in order, each once
  std::function<void(const Error&)> held;                    // not now; the reason
  std::function<void(Step step)> checkpointed;
  std::function<void(const Error&)> chore_failed;  // no checkpoint this time
  std::function<void(const Error&)> fatal;
};

class Vault final {
 public:
  Vault(asio::io_context& io, history::Keeper keeper, VaultOutlets outlets);
  ~Vault();  // lets go of a checkpoint that is half done

  // Tells `written`, now or later.
  void append(engine::LedgerRecord record);
  bool waits() const { return !unwritten_.empty(); }
  void try_again();

  // At a step boundary: begins what is due. True where that is a checkpoint, or pruning.
  bool look_after(const engine::Pool& pool, Time now);

  // Everything on the disk, and the thread gone. For the end of a run.
  Result<void> close();

 private:
  struct Outcome {
    std::unique_ptr<history::Chore> chore;
    Result<bool> result;
  };

  void begin(std::unique_ptr<history::Chore>& place, std::unique_ptr<history::Chore> chore);
  void work();
  void ended(Outcome outcome);
  void stop_working();

  asio::io_context& io_;
  history::Keeper keeper_;
  VaultOutlets outlets_;
  std::deque<engine::LedgerRecord> unwritten_;
  bool failed_ = false;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;                 // guarded by mutex_, as are the two below
  std::unique_ptr<history::Chore> sync_;  // to be run
  std::unique_ptr<history::Chore> slow_;  // to be run, or half done
  std::thread thread_;
};

}  // namespace wide::net
