#pragma once
// One segment file of the ledger log: its header, and its records one by one. What the readers of
// the log (log_read.cc) and the pruner (log_prune.cc) share; nobody else needs it.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "wide/base/buffer.h"
#include "wide/store/disk.h"
#include "wide/store/ledger_log.h"
#include "wide/store/log_record.h"

namespace wide::store {

inline constexpr std::string_view kLedgerFolder = "ledger";
inline constexpr std::size_t kSegmentHeaderBytes = 96;
inline constexpr std::uint64_t kRoomUnitBytes = 4096;

struct SegmentHeader {
  std::uint64_t first_sequence = 0;
  Digest job_id;
  Digest previous;  // of the record before the first
};

std::vector<std::byte> encode_segment_header(const SegmentHeader& header);

// kLogDamaged; kOtherFileVersion.
Result<SegmentHeader> decode_segment_header(std::span<const std::byte> bytes);

// Reads records where position() stands. What is wrong with one is told without file and offset:
// the caller knows what it means.
class SegmentReader final {
 public:
  enum class Bulks { kRead, kSkip };

  // kLogDamaged: the header is not whole. kOtherJob, kOtherFileVersion: the detail names the file.
  // Other errors: the disk's. That the header is this segment's is for the caller to see, by
  // position().
  static Result<SegmentReader> open(Disk& disk, const Digest& job_id, std::uint64_t segment);

  // kLogDamaged: no whole record is there that goes on from the one before, and nothing changed.
  Result<void> next(BufferPool& buffers, Bulks bulks);
  // As if the records before had been read.
  void seek(const LogPosition& position) { position_ = position; }

  // Behind it there is nothing, or nothing but room.
  bool at_end() const {
    return position_.offset_bytes >= end_bytes_ && position_.offset_bytes <= file_->size_bytes();
  }
  const LogPosition& position() const { return position_; }
  const DiskFile& file() const { return *file_; }

  // The record that next() found, until the next one.
  const RecordHeader& header() const { return header_; }
  std::span<const std::byte> body() const { return body_; }
  const BufferPtr& bulk() const { return bulk_; }

 private:
  SegmentReader(DiskFilePtr file, std::uint64_t end_bytes, const SegmentHeader& header);
  Result<RecordHeader> read_header_and_body();
  Result<void> read_bulk(const RecordHeader& header, BufferPool& buffers);
  std::uint64_t left_bytes() const { return file_->size_bytes() - position_.offset_bytes; }

  DiskFilePtr file_;
  std::uint64_t end_bytes_;
  LogPosition position_;
  RecordHeader header_;
  std::vector<std::byte> body_;
  BufferPtr bulk_;
};

// What is not room: all of the file, or, where it ends as room does (kRoomUnitBytes), up to its
// last byte that is not zero. A record may end in zeros, then that is within the last one.
Result<std::uint64_t> end_bytes(const DiskFile& file);

// Whether any record from `offset_bytes` on, wherever it begins, says that the records below
// `sequence` were on the disk. Records have no alignment: the magic is searched for.
Result<bool> proves_synced(const DiskFile& file, std::uint64_t offset_bytes,
                           std::uint64_t sequence);

}  // namespace wide::store
