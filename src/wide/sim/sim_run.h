#pragma once
// A whole run in virtual time: the real Pool and Nodes, their real bytes through real frames, over
// links that delay and chop, between nodes that are slow, die, come back and lose their replica.
// All of it drawn from one seed.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "wide/engine/pool/pool.h"

namespace wide::sim {

struct SimOptions {
  std::uint64_t seed = 1;
  engine::Job job;
  SampleSpace space;
  Block lease_blocks = 0;
  std::uint32_t nodes = 3;
  std::uint16_t slots = 1;
  double kill_chance = 0;     // that a node dies, per lease that it computes
  double stall_chance = 0;    // that a lease takes fifty times as long
  double corrupt_chance = 0;  // that a node's replica is damaged, per lease
  double cut_chance = 0;      // that a link breaks, per message
};

struct SimOutcome {
  bool finished = false;
  engine::Summary summary;
  std::uint64_t kills = 0;
  std::uint64_t cuts = 0;
  std::uint64_t stalls = 0;
  std::uint64_t events = 0;
  Duration simulated{};
  std::uint64_t trace_hash = 0;         // of everything that the pool was told and said
  std::vector<std::string> violations;  // broken promises, in words
};

// Until the job is done, or `event_max` things have happened.
SimOutcome simulate(const SimOptions& options, std::uint64_t event_max = 2'000'000);

}  // namespace wide::sim
