#pragma once
// All that a node needs to compute for one job: the job, its samples, the layout, and what its
// computers are made of. Built once, off the I/O thread, since opening and hashing the samples may
// take a while; never written again, so every slot may read it.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "wide/data/dataset.h"
#include "wide/engine/lease_work.h"
#include "wide/engine/node/node.h"
#include "wide/net/node_client.h"
#include "wide/net/supply.h"

namespace wide::net {

struct Workshop {
  engine::Job job;
  engine::Genesis genesis;
  data::DatasetPtr samples;
  std::unique_ptr<engine::ComputerFactory> factory;
  std::string libraries;
  Digest class_hash;
  Duration unit_span{};  // of one unit, warm, on the first computer
  // Of samples that are not all here: keeps those of unit 0, the only ones sure to be at hand.
  std::shared_ptr<const void> first_unit;
};

struct Equipment {
  Workshop workshop;
  std::vector<std::unique_ptr<engine::UnitComputer>> computers;  // one per slot
};

// Takes the samples from this machine's files where it has them, else from the supply, for which it
// waits. Throws Failure: kSamplesMissing, kSamplesCorrupt, kSamplesDiffer, kModelMisfit,
// kComputeFailed.
Equipment equip(const engine::Prepare& prepare, const NodeClientOptions& options,
                const Tools& tools, Supply& supply, BufferPool& buffers);

// How many units a slot computes on `weights` until `span` is over, and how long that took.
struct SlotSpeed {
  std::uint64_t units = 0;
  Duration span{};
};
SlotSpeed measure_slot(engine::UnitComputer& computer, const Workshop& workshop,
                       const engine::Weights& weights, Duration span, BufferPool& buffers);

// What went wrong inside a computer, as an error with a code: its own, or kComputeFailed.
Error compute_error(const std::exception& failed);

}  // namespace wide::net
