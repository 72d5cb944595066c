#pragma once
// The facts of a run, as the summary shows them. What only a driver can know (seconds of real
// time, memory) is filled in there.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wide/base/clock.h"
#include "wide/base/digest.h"
#include "wide/wire/messages.h"

namespace wide::engine {

struct NodeSummary {
  std::string name;
  std::uint16_t slots = 0;
  std::uint64_t units = 0;
  double share = 0;  // of all units
  double samples_per_second = 0;
  wire::NodeTimes times;
  std::uint64_t bytes_sent = 0;      // by the node
  std::uint64_t bytes_received = 0;  // by the node
  std::uint64_t raw_bytes = 0;       // both, before lossless codes
  double loss_mean = 0;
  std::uint64_t rejected = 0;
};

struct Summary {
  std::string job;
  Digest job_id;
  std::string strategy;
  Step steps = 0;
  double epochs = 0;
  std::uint64_t units = 0;
  std::uint64_t samples = 0;
  double seconds = 0;  // from the first lease to the last commit, evaluations left out
  std::optional<double> efficiency;
  double loss_first = 0;
  double loss_last = 0;
  double loss_mean = 0;
  std::optional<double> accuracy;
  std::optional<double> eval_loss;
  std::optional<double> perplexity;  // of text and tokens
  Digest weights_sha256;
  Digest state_hash;
  std::uint32_t numerics_classes = 0;
  bool reproducible = false;
  std::uint64_t bytes_sent = 0;      // by the pool
  std::uint64_t bytes_received = 0;  // by the pool
  std::uint64_t raw_bytes = 0;       // both, before lossless codes
  std::uint64_t encode_ns = 0;       // the pool's threads spent on those, decoding included
  std::uint64_t shipped_bytes = 0;   // of raw_bytes: samples for nodes that lacked them
  std::uint64_t leases_reissued = 0;
  std::uint64_t leases_hedged = 0;
  std::uint64_t shares_late = 0;      // valid but not first
  std::uint64_t shares_rejected = 0;  // refused: wrong shape, step, block, not finite, …
  std::uint64_t audits_equal = 0;     // late results that matched the accepted one
  std::uint64_t audits_different = 0;
  std::uint64_t resyncs = 0;           // replicas that had to be replaced
  std::uint64_t resumed = 0;           // 1: the run had been begun before
  std::uint64_t results_kept = 0;      // from before a node's link broke, and still good
  std::uint64_t recomputed_equal = 0;  // steps lost in a power cut that nodes had seen
  std::uint64_t recomputed_different = 0;
  std::vector<NodeSummary> nodes;
};

// What a progress line shows.
struct Progress {
  std::string state;  // "training", "evaluating", "measuring", "waiting for nodes", …
  Step step = 0;
  Step steps_total = 0;  // 0: ends by time
  double epoch = 0;
  double loss = 0;                // of the last step
  double samples_per_second = 0;  // over the last seconds
  double elapsed_seconds = 0;
  double left_seconds = 0;
  std::uint32_t nodes = 0;
  std::uint32_t slots = 0;
};

}  // namespace wide::engine
