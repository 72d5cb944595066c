#pragma once
// Drives a Node: dials the pool, keeps the link, runs the slots, dials again when it breaks.
// First contact fails within seconds; once joined, it retries for ever (full jitter, bounded).
//
// A unit that takes a few milliseconds at most is computed on the I/O thread itself when there is
// one slot: handing it to another thread and back would cost two wake-ups. Longer ones, and all of
// them when there are several slots, run on threads of their own, so that heartbeats keep going.

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "wide/data/dataset.h"
#include "wide/engine/node/node.h"
#include "wide/net/endpoint.h"
#include "wide/net/kin_table.h"
#include "wide/net/open_samples.h"

namespace wide::net {

using FactoryMaker = std::function<std::unique_ptr<engine::ComputerFactory>(
    const engine::Job&, const engine::Layout&, data::DatasetPtr)>;
using GenesisMaker = std::function<engine::Genesis(const engine::Job&, const SampleSpace&)>;

// What computes here. Only those who have libtorch can read the genesis of a TorchScript file.
struct Tools {
  FactoryMaker make_factory;
  GenesisMaker make_genesis = engine::make_genesis;
};

struct NodeClientOptions {
  Endpoint pool;
  engine::NodeOptions node;
  std::filesystem::path samples_folder;     // --data; empty: nobody said that they are here
  std::optional<SampleFiles> sample_files;  // local nodes: the pool's own
  std::filesystem::path cache_folder;
  std::uint64_t cache_bytes_max = std::uint64_t{8} << 30;  // of chunks
  Duration first_contact_max = std::chrono::seconds(4);
  Duration heartbeat = std::chrono::seconds(1);
  Duration silence_max = std::chrono::seconds(6);   // a pool that says nothing for so long is gone
  Duration farewell_max = std::chrono::seconds(2);  // for the pool's Bye
  unsigned coding_threads = 0;                      // for lossless codes; 0: by the machine
  // Between short leases of one slot. Only where the pool is of the same session: the kernel shares
  // cores between sessions, and would make a pool of another one wait.
  bool wakeful = false;
  KinSeat* kin = nullptr;  // among the local nodes; null: there are none
  bool quiet = false;      // local nodes of `wide train` speak only of trouble
};

class NodeClient final {
 public:
  NodeClient(NodeClientOptions options, Tools tools);
  ~NodeClient();

  // Until the pool says Bye, or a signal: the first SIGINT or SIGTERM hands the leases back and
  // leaves, the second returns at once. Throws Failure where it cannot go on.
  void run();
  bool interrupted() const;

  // What it did, for whoever reports it once run() has returned.
  struct Report {
    std::string job;
    std::string name;
    std::uint64_t units = 0;
    std::uint64_t fetched_chunks = 0;
    std::uint64_t fetched_bytes = 0;
  };
  Report report() const;

  // As the first signal would. From any thread, while run() goes on.
  void leave(std::string reason);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace wide::net
