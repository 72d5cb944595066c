#pragma once
// What a simulation is to be: a small job, a few nodes, and a swarm of faults. draw_plan() makes
// one out of a seed; tests make their own.

#include <array>
#include <cstdint>

#include "wide/engine/pool/pool.h"
#include "wide/history/keeper.h"
#include "wide/sim/fault.h"
#include "wide/sim/sim_disk.h"
#include "wide/sim/sim_net.h"

namespace wide::sim {

// How often each fault comes, beside the others; 0: never.
class FaultMix final {
 public:
  double& operator[](Fault fault) { return weights_[static_cast<std::size_t>(fault)]; }
  double operator[](Fault fault) const { return weights_[static_cast<std::size_t>(fault)]; }
  bool has(Fault fault) const { return (*this)[fault] > 0; }

 private:
  std::array<double, kFaultCount> weights_{};
};

struct SimPlan {
  std::uint64_t seed = 1;
  engine::Job job;
  SampleSpace space;
  engine::PoolOptions pool;
  history::KeeperOptions keeper;
  NetOptions net;
  std::uint32_t nodes = 3;
  std::uint16_t slots = 1;
  Distance distance;                                   // of the farthest node
  Duration block_span = std::chrono::milliseconds(2);  // what a block takes to compute, about

  // Faults fall from the sky about every `fault_gap` until `faults_end`; `mix` says which. Those of
  // a disk's operations, of leases and of results come with their own chance each.
  FaultMix mix;
  Duration fault_gap = std::chrono::seconds(1);
  Time faults_end{};  // 0: there are none
  DiskFaults disk;
  double stall_chance = 0;         // that a lease takes fifty times as long
  double lost_replica_chance = 0;  // per lease
  double lie_chance = 0;           // per result: one of the mix's wrong ones
};

SimPlan draw_plan(std::uint64_t seed);

// The same job with one node, near by, and no faults at all.
SimPlan calm(SimPlan plan);

// A job of a few dozen parameters, and its samples.
engine::Job small_job(std::uint32_t units, std::uint64_t steps);
SampleSpace small_space(std::uint64_t eval_count);

}  // namespace wide::sim
