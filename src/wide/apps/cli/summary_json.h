#pragma once
// The summary of a run for scripts. The names of its fields are a contract: add, never rename.

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "wide/base/error.h"
#include "wide/engine/pool/summary.h"

namespace wide::apps {

// What the engine knows of a run, and what only the program around it can know.
struct RunFacts {
  engine::Summary summary;
  std::uint64_t memory_bytes_peak = 0;  // pool and local nodes, proportional set size
  double pool_cpu_seconds = 0;          // of its own process, from its opening to its end
  double log_seconds = 0;               // what it spent on lines of its log
  std::string run_folder;
  bool interrupted = false;
  std::optional<Error> error;  // what ended the run, where something did
};

nlohmann::ordered_json summary_json(const RunFacts& facts);

// Per second of training; 0 where there was none.
double rate(double amount, double seconds);

}  // namespace wide::apps
