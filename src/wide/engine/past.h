#pragma once
// What a pool remembers besides its replica: sums over everything that was ever committed. Grows by
// one record at a time, the same way while the run goes and while it is brought back, so a resumed
// run ends with the figures it would have had.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "wide/engine/job.h"
#include "wide/engine/ledger.h"

namespace wide::engine {

struct NodePast {
  std::uint16_t slots = 0;
  std::uint64_t units = 0;
  double loss_sum = 0;
};

struct Past {
  Step steps = 0;
  std::uint64_t units = 0;
  double seconds = 0;
  double loss_first = 0;
  double loss_last = 0;
  double loss_sum = 0;          // of the steps' means
  std::uint32_t node_last = 0;  // the highest number that a contributor had: never given again
  std::set<Digest> classes;     // of accepted shares
  std::map<std::string, NodePast> nodes;  // by name
  std::optional<EvalRecord> eval;         // the last one
  bool stopped = false;                   // by a StopRecord: nothing may follow

  void add(const CommitRecord& record, const Job& job);
};

}  // namespace wide::engine
