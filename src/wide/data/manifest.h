#pragma once
// The manifest names every chunk of a dataset by its SHA-256, and is itself named by the hash that
// the job carries: whoever has that hash can take the manifest from anyone, and every chunk too.
//
//   "wide samples 1\n"
//   train_count u64 | eval_count u64 | eval_fraction f64
//   class_count u32 | target_count u32 | tokens u8 | rank u8 | extent u32 × rank
//   part × 4: type u8 | count, record and stride in elements, records_per_chunk, first_chunk u64
//   chunk count u64 | sha256 × chunks
//
// Little-endian. manifest_root() is the SHA-256 of exactly these bytes, and is the space's sha256.
// Where the files lie, whether they were packed and how values are normalised is not in it: idx and
// npy files of the same numbers have the same manifest.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "wide/base/digest.h"
#include "wide/base/sample_space.h"
#include "wide/data/hold_out.h"
#include "wide/data/part.h"

namespace wide::data {

inline constexpr std::size_t kManifestBytesMax = 64u << 20;  // two million chunks

enum PartPlace : std::size_t { kTrainSamples, kTrainTargets, kEvalSamples, kEvalTargets };

struct Manifest {
  SampleSpace space;          // its sha256 is the root
  std::array<Part, 4> parts;  // empty ones have no records: text has no targets of its own, and
                              // samples held out by a fraction lie among those to train on
  double eval_fraction = 0;
  std::vector<Digest> chunks;
};

// Checks everything that decode_manifest promises below but the hashes of the chunks, of which
// there may be none yet; fills in what follows from the rest: how samples travel.
Result<void> settle_manifest(Manifest& manifest);

std::vector<std::byte> encode_manifest(const Manifest& manifest);
Digest manifest_root(const Manifest& manifest);

// From a stranger: every count is checked against the bytes at hand, parts against the space,
// chunks against the parts. kSamplesCorrupt says what is wrong. The result's space has its sha256.
Result<Manifest> decode_manifest(std::span<const std::byte> bytes);

// Where a sample lies: which of the parts has it (its targets are in the next), and as which
// record.
struct RecordPlace {
  PartPlace part = kTrainSamples;
  std::uint64_t record = 0;
};

// Finds samples; made once, asked often. Pure.
class RecordFinder final {
 public:
  explicit RecordFinder(const Manifest& manifest);

  RecordPlace train(std::uint64_t index) const {
    return {kTrainSamples, hold_out_.train_record(index)};
  }
  RecordPlace eval(std::uint64_t index) const {
    if (apart_) return {kEvalSamples, index};
    return {kTrainSamples, hold_out_.eval_record(index)};
  }

 private:
  HoldOut hold_out_;
  bool apart_;  // held-out samples have parts of their own
};

// Which chunks a sample lies in: its own and its targets'. Appends, may repeat.
void add_chunks_of_train(const Manifest& manifest, std::uint64_t index,
                         std::vector<std::uint64_t>& chunks);
void add_chunks_of_eval(const Manifest& manifest, std::uint64_t index,
                        std::vector<std::uint64_t>& chunks);
const Part& part_of_chunk(const Manifest& manifest, std::uint64_t chunk);
std::uint64_t chunk_bytes(const Manifest& manifest, std::uint64_t chunk);

}  // namespace wide::data
