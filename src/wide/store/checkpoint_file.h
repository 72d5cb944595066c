#pragma once
// A file of a checkpoint on its way to the disk, and on its way back: hashed, written and checked
// in pieces, so that nothing else waits long.

#include <cstdint>
#include <span>
#include <vector>

#include "wide/base/buffer.h"
#include "wide/base/digest.h"
#include "wide/store/checkpoint_manifest.h"
#include "wide/store/disk.h"

namespace wide::store {

inline constexpr std::uint64_t kPieceBytes = 8u << 20;

// In memory: what stands before the values, and the values.
class CheckpointFile final {
 public:
  CheckpointFile(std::vector<std::byte> prefix, Floats values)
      : prefix_(std::move(prefix)), values_(std::move(values)) {}

  std::uint64_t size_bytes() const { return prefix_.size() + values_.bytes().size(); }
  // The bytes from `offset_bytes` on, at most `bytes_max` of them, in the two runs they lie in.
  struct Piece {
    std::span<const std::byte> prefix;
    std::span<const std::byte> values;
    std::uint64_t size() const { return prefix.size() + values.size(); }
  };
  Piece piece(std::uint64_t offset_bytes, std::uint64_t bytes_max) const;

 private:
  std::vector<std::byte> prefix_;
  Floats values_;
};

// The step is in the file, so that no two generations share one: damage to it is damage to one of
// them. kCannotWrite: a name that is not UTF-8, or one too many.
Result<CheckpointFile> weights_file(const Floats& weights, std::span<const TensorPlace> places,
                                    Step step);
Result<CheckpointFile> state_file(const Floats& state, Step step);

// Reads a file and compares it with its hash, piece by piece.
class FileCheck final {
 public:
  explicit FileCheck(const FileFacts& wanted) : wanted_(wanted) {}

  // True: all of it was read and is as it should be. kCheckpointDamaged: it is not.
  Result<bool> step(Disk& disk);

 private:
  tl::unexpected<Error> damaged(const Disk& disk, std::string_view why) const;

  FileFacts wanted_;
  DiskFilePtr file_;
  std::vector<std::byte> piece_;
  std::uint64_t offset_bytes_ = 0;
  Sha256 hash_;
};

// All values of a file in one run, compared with its hash on the way. kCheckpointDamaged.
Result<Floats> read_values(Disk& disk, const FileFacts& wanted, BufferPool& buffers);

}  // namespace wide::store
