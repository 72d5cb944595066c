#pragma once
// Which run a folder holds: job.toml and genesis.json, read back and held against each other.
// Enough to check the run without its samples and without libtorch.
//
//   genesis.json   format, job_id, weights_sha256 (at step 0), samples {…}, tensors [ … ]

#include <optional>

#include "wide/base/sample_space.h"
#include "wide/engine/genesis.h"
#include "wide/engine/job.h"
#include "wide/store/disk.h"

namespace wide::history {

inline constexpr std::uint32_t kRunFormat = 1;

struct RunIdentity {
  engine::Job job;
  Digest job_id;
  Digest genesis_sha256;
  engine::Layout layout;
  SampleSpace space;                       // of samples that need not be here
  std::optional<engine::Genesis> genesis;  // none: of a TorchScript run, whose file has it
};

// What is written at the start of a run.
std::string genesis_json(const RunIdentity& identity);

// kRunMissing, kOtherFileVersion, kRunDiffers where the two files contradict each other or
// themselves.
Result<RunIdentity> read_identity(store::Disk& disk);

// Of its genesis.json alone: what the weights at step 0 hash to.
Result<Digest> read_genesis_sha256(store::Disk& disk);

}  // namespace wide::history
