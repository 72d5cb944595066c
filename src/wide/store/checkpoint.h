#pragma once
// Checkpoints: a replica at one step, so that a run can go on without its whole log.
//
//   checkpoints/SHA256.safetensors      weights; optimiser state (none for plain sgd);
//                                       what lossy updates lost (where the job has them)
//   checkpoints/000000000120.manifest   two lines: a JSON object, and the SHA-256 of that line
//
// Files are named by what is in them, written aside, synced and renamed; the manifest, which names
// them, is renamed last; the folder is synced before and after; all of it is read back. Only then
// does an older generation go: three stay. What no manifest names is rubbish.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "wide/base/buffer.h"
#include "wide/base/digest.h"
#include "wide/base/ids.h"
#include "wide/store/disk.h"
#include "wide/store/ledger_log.h"
#include "wide/store/tensor_file.h"

namespace wide::store {

inline constexpr std::uint32_t kCheckpointFormat = 3;
inline constexpr std::size_t kGenerations = 3;

struct CheckpointFacts {
  Digest job_id;
  Step step = 0;
  std::uint64_t chain = 0;
  Digest state_hash;            // zero: filled in by whoever writes, from the arrays
  LogPosition log;              // right behind the record of the step before
  std::uint64_t synced_to = 0;  // no record before this one may be missing
  std::string past;             // a JSON object: what else the pool remembers (history/ knows)
};

// Arrays that nobody writes any more.
struct CheckpointArrays {
  Floats weights;    // parameters, then buffers
  Floats optimizer;  // may be empty
  Floats memory;     // the pool's own, of what lossy updates lost; may be empty
};

// The names and shapes under which the weights lie in their file: one behind the other, all of
// them.
struct TensorPlace {
  std::string name;
  std::vector<std::uint32_t> shape;
  std::uint64_t offset = 0;  // in floats
  std::uint64_t size = 0;
};

struct NewCheckpoint {
  CheckpointFacts facts;
  CheckpointArrays arrays;
  std::vector<TensorPlace> places;
};

// Writes one checkpoint in small steps, so that it can run beside training and be cut off
// anywhere. Syncs as it goes, at most 8 MiB at a time: a log on the same disk must not wait behind
// a hundred megabytes.
class CheckpointWriter final {
 public:
  CheckpointWriter(Disk& disk, NewCheckpoint checkpoint);
  ~CheckpointWriter();

  // The next piece of work. True: the checkpoint stands, was read back, and generations beyond the
  // third are gone. kDiskFull, kCannotWrite: give it up (what is left is rubbish, no harm).
  // kCheckpointDamaged: likewise; it did not read back as it was written. kSyncFailed: end the
  // process. No step after an error.
  Result<bool> step();

  const CheckpointFacts& facts() const;  // the state hash is known once step() said true

 private:
  class Stages;
  std::unique_ptr<Stages> stages_;
};

struct CheckpointEntry {
  std::string manifest;  // its name
  Step step = 0;
  Result<CheckpointFacts> facts;  // or what is wrong with the manifest: kCheckpointDamaged,
                                  // kOtherFileVersion
};

// Every manifest, newest first. No folder: none.
Result<std::vector<CheckpointEntry>> list_checkpoints(Disk& disk);

// The arrays, checked against their names. kCheckpointDamaged names the file, and the offset where
// there is one. `buffers` gives the memory.
Result<CheckpointArrays> read_checkpoint(Disk& disk, const CheckpointEntry& entry,
                                         BufferPool& buffers);

// The hash that a replica of these has: SHA-256 of step, chain, weights, optimiser state.
Digest state_hash_of(const CheckpointFacts& facts, const CheckpointArrays& arrays);

// Files that no manifest names and that nobody writes: removed. For when a run is opened again.
// While a manifest does not read, nobody knows what it names: then only what was aside goes.
Result<void> remove_rubbish(Disk& disk);

}  // namespace wide::store
