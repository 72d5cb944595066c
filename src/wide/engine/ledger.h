#pragma once
// The ledger: which block was accepted, from whom, with which hash; once each. The pool hands one
// record to its driver per committed step, and moves on when it is told that the record is written.
//
// Records become bytes here and nowhere else; docs/run-folder.md draws them. The update is not part
// of a body: it travels behind it, and may be taken out of old records.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "wide/base/digest.h"
#include "wide/base/error.h"
#include "wide/base/ids.h"
#include "wide/wire/messages.h"

namespace wide::engine {

// The first record of every log.
struct GenesisRecord {
  Digest job_id;
  Digest samples_sha256;
  Digest model_sha256;  // zero: a built-in model
  Digest genesis_sha256;
  std::uint64_t parameter_count = 0;
  std::uint64_t buffer_count = 0;
  std::string program_version;
};

struct LedgerRow {
  Block block = 0;
  NodeId node;
  Digest sha256;
};

// What one node gave to one step.
struct Contributor {
  NodeId node;
  std::string name;
  Digest class_hash;
  std::uint16_t slots = 0;
  std::uint64_t units = 0;
  double loss_sum = 0;  // over their samples
};

struct CommitRecord {
  Step step = 0;
  std::uint64_t chain_before = 0;
  std::uint64_t chain_after = 0;
  wire::StepScalars scalars;
  double loss = 0;     // mean over the step's samples
  double seconds = 0;  // of training, up to here, over all lives of the pool
  std::vector<Contributor> contributors;
  std::vector<LedgerRow> rows;      // every block of the step, in order
  std::uint8_t gradient_codec = 0;  // codec::Lossy: what every block was coded with
  std::uint8_t update_codec = 0;    // and the update
  // The mean over the step's samples, and the new buffers. Where the update is not lossy, exactly
  // what everyone applies; else what it is made of, together with what earlier ones lost. Empty
  // where it was taken out.
  Floats update;
};

struct EvalRecord {
  Step step = 0;
  double loss = 0;
  std::optional<double> accuracy;
  std::optional<double> perplexity;
};

// The run ended here, at a step that nothing but the clock chose.
struct StopRecord {
  Step step = 0;
  double seconds = 0;
};

using LedgerRecord = std::variant<GenesisRecord, CommitRecord, EvalRecord, StopRecord>;

std::uint16_t record_type(const LedgerRecord& record);
std::vector<std::byte> encode_body(const LedgerRecord& record);
std::span<const std::byte> bulk_of(const LedgerRecord& record);  // of a commit: its update

// `bulk` holds `bulk_bytes` bytes, or is null where they were taken out. kLogDamaged where the body
// is not one of this type.
Result<LedgerRecord> decode_record(std::uint16_t type, std::span<const std::byte> body,
                                   BufferPtr bulk, std::uint64_t bulk_bytes);

// Is every block of [0, block_count) in it once, in order? The step's own promise.
bool covers_every_block(const CommitRecord& record, Block block_count);

}  // namespace wide::engine
