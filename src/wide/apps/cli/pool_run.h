#pragma once
// One run from the first byte to the summary: the pool, its folder, its server, the nodes it
// starts here, and the eyes on them. demo, train and pool differ only in the request.

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "wide/apps/cli/local_nodes.h"
#include "wide/apps/cli/progress_view.h"
#include "wide/apps/cli/run_flags.h"
#include "wide/apps/cli/summary_json.h"
#include "wide/apps/edge/environment.h"
#include "wide/base/buffer.h"
#include "wide/base/error_catalog.h"
#include "wide/engine/pool/pool.h"
#include "wide/net/pool_server.h"
#include "wide/store/real_disk.h"
#include "wide/store/run_folder.h"

namespace wide::apps {

struct RunRequest {
  engine::Job job;
  std::optional<engine::Genesis> genesis;  // of a TorchScript file; else the engine makes it
  net::Endpoint listen{"127.0.0.1", 0};
  bool open_to_others = false;  // print the join line; wait on when nobody is left
  std::uint32_t nodes = 0;      // to start on this machine
  std::uint32_t slots = 1;      // of each
};

class PoolRun final {
 public:
  // Everything that can be wrong is found here, before any work: samples, fit, wide-node, folder,
  // port.
  PoolRun(RunRequest request, const RunFlags& flags, const Environment& environment);
  ~PoolRun();

  ExitCode run();  // prints the summary and leaves it in the run folder

 private:
  data::DatasetPtr open_dataset() const;
  std::filesystem::path out_folder() const;
  net::PoolWatcher watcher();
  void show(const std::function<void(Time now)>& lines);
  void open_folder();
  void open_server();
  void announce() const;
  void start_local_nodes();
  void watch_local_nodes(const engine::Progress& progress);
  void gather_facts(std::optional<Error> error, std::uint64_t memory_bytes_peak);
  ExitCode report() const;

  const RunRequest request_;
  const RunFlags flags_;
  const Environment environment_;

  data::DatasetPtr samples_;
  SampleSpace space_;
  std::filesystem::path node_program_;  // empty where no nodes are started here
  BufferPool buffers_;
  ProgressView view_;
  std::unique_ptr<engine::Pool> pool_;
  bool made_folder_ = false;
  std::optional<store::RunFolder> folder_;
  std::unique_ptr<store::RealDisk> disk_;
  std::unique_ptr<net::PoolServer> server_;
  std::unique_ptr<LocalNodes> local_nodes_;
  std::optional<Error> local_failure_;
  double cpu_seconds_before_ = 0;
  Duration shown_for_{};  // what lines of the log have taken
  RunFacts facts_;
};

// What others type to join a pool that listens at `bound`; `addresses` are this machine's. A pool
// on loopback has one line, good on this machine only.
std::vector<std::string> join_lines(const net::Endpoint& bound,
                                    const std::vector<std::string>& addresses);

}  // namespace wide::apps
