#pragma once
// Drives a Pool with real sockets, clock and disk: one I/O thread that runs to completion. Every
// read is drained, every frame in it handled, every effect carried out, and each link's answers
// leave in one gathered write.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "wide/data/dataset.h"
#include "wide/engine/pool/pool.h"
#include "wide/history/keeper.h"
#include "wide/net/endpoint.h"
#include "wide/store/run_folder.h"

namespace wide::net {

struct PoolServerOptions {
  Endpoint listen{"127.0.0.1", 0};
  Duration progress_every = std::chrono::milliseconds(500);
  Duration farewell_max = std::chrono::seconds(2);  // for a closed link to take what is queued
  // The engine refuses callers in words long before this many sockets are open; beyond it they are
  // hung up on without one.
  std::size_t socket_count_max = 32'768;
  data::DatasetPtr samples{};        // what nodes may be sent that lack it; null: nothing
  std::size_t outbox_bytes_max = 0;  // waiting for one slow reader; 0: by the job's largest message
  unsigned coding_threads = 0;       // for lossless codes; 0: by the machine
};

// Told on the I/O thread; must not block.
struct PoolWatcher {
  std::function<void(const engine::Progress&)> on_progress;
  std::function<void(const engine::Note&)> on_note;
  std::function<void(const engine::Evaluated&)> on_evaluated;
};

class PoolServer final {
 public:
  // Binds at once; throws Failure (kPortInUse, kBadAddress) where it cannot. `folder` may be null:
  // then nothing is recorded.
  PoolServer(engine::Pool& pool, PoolServerOptions options, PoolWatcher watcher,
             store::RunFolder* folder);
  // Where commits are kept, before run(). Without it they are believed at once, and lost at the
  // end. `resumed`: the pool was recovered, and goes on where it was.
  void keep(history::Keeper keeper, bool resumed);
  ~PoolServer();

  const Endpoint& bound() const;

  // Until the run is over and every link has its Bye. The first SIGINT or SIGTERM ends the run at
  // its last commit, the second returns at once. Returns the error that ended the run, if one did.
  // Throws Failure(kSyncFailed) where the disk failed: end the process, and tell nobody anything.
  std::optional<Error> run();
  bool interrupted() const;

  // From any thread, while run() goes on. stop() ends the run at its last commit; abandon() makes
  // run() return at once and cuts every link without a word, as the second signal does.
  void stop(std::string reason);
  void abandon();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace wide::net
