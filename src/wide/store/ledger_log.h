#pragma once
// The ledger log: an append-only chain of records in segment files below ledger/.
//
//   ledger/000000000000.log     named by the sequence of its first record
//   segment = header, then records (log_record.h)
//   header  = magic "WIDELOG1" 8 bytes | format u32 | reserved u32 | first sequence u64 | job id 32
//             bytes | digest of the record before 32 bytes | check u64 (xxh3-64 of all above)
//
// Behind the last record there may be zeros, to a multiple of 4096 bytes: room that was made for
// the next ones (make_room).
//
// A torn tail (what was written last, and not synced) is cut where the log is opened again. A
// record that is damaged although a later one says that it was synced, or although a later segment
// or a checkpoint stands behind it, is no torn tail: kLogDamaged, with file and offset.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "wide/base/buffer.h"
#include "wide/base/digest.h"
#include "wide/store/disk.h"
#include "wide/store/log_record.h"

namespace wide::store {

inline constexpr std::uint32_t kLogFormat = 2;

// Between two records.
struct LogPosition {
  std::uint64_t sequence = 0;      // of the next record
  Digest previous;                 // of the one before; zero at the very beginning
  std::uint64_t segment = 0;       // first sequence of the segment
  std::uint64_t offset_bytes = 0;  // in its file; 0: behind its header, wherever that ends
};

// A record as it is read. `bulk` has header.bulk_bytes, and is null where they are none or taken
// out.
struct ReadRecord {
  RecordHeader header;
  std::span<const std::byte> body;
  BufferPtr bulk;
  LogPosition after;  // right behind it
};

// Told in order; an error it returns ends the reading with that error.
using RecordVisitor = std::function<Result<void>(const ReadRecord&)>;

// What was found behind the last whole record.
struct TornTail {
  std::string file;  // full path
  std::uint64_t offset_bytes = 0;
  std::uint64_t lost_bytes = 0;
};

struct LogEnd {
  LogPosition position;
  std::optional<TornTail> torn;
  std::vector<std::uint64_t> doomed_segments;  // wholly behind the tear. Of a log of which not even
                                               // the first header is there: that one, position 0
};

struct LogQuestion {
  Digest job_id;
  LogPosition from;             // where a checkpoint stands, or the beginning
  std::uint64_t synced_to = 0;  // by other knowledge: a record below this must be there
};

// Reads and checks every record from there on; changes nothing. kRunMissing: there is no log.
// kOtherFileVersion: of another format. kOtherJob: of another job. kLogDamaged.
Result<LogEnd> read_log(Disk& disk, const LogQuestion& question, const RecordVisitor& visit);

// The first sequences of all segments, in order.
Result<std::vector<std::uint64_t>> log_segments(Disk& disk);
std::string segment_name(std::uint64_t first_sequence);  // "ledger/000000000000.log"

// Rewrites a segment without its bulks: aside, synced, renamed, the folder synced. Good, and quick,
// where there are none. Never the segment that is written to. Returns the bytes saved.
Result<std::uint64_t> take_bulks_out(Disk& disk, const Digest& job_id, std::uint64_t segment);

class LedgerLog final {
 public:
  // A new, empty log; kCannotWrite where there is one.
  static Result<LedgerLog> create(Disk& disk, const Digest& job_id);

  // Goes on where `end` says: what is torn is cut, and the cut synced.
  static Result<LedgerLog> open(Disk& disk, const Digest& job_id, const LogEnd& end);

  // Written: kill -9 does not lose it. kDiskFull, kCannotWrite: nothing of it is left, and it may
  // be tried again. kSyncFailed where cleaning up failed, too.
  Result<void> append(std::uint16_t type, std::span<const std::byte> body,
                      std::span<const std::byte> bulk);

  // For the next records, at least so many bytes of them: their syncs are then cheaper (disk.h).
  // Where it cannot be made, the segment goes on without.
  void make_room(std::uint64_t bytes);
  // Once no more records will follow in this segment. Where it fails, zeros of any length stay: a
  // torn tail while this segment is the last one, damage once another follows.
  Result<void> give_room_back();

  // Everything so far, now. kSyncFailed: end the process.
  Result<void> sync();

  // The same in two halves, so that another thread can wait for the disk: sync the ticket there,
  // then say synced() here.
  struct Ticket {
    DiskFilePtr file;
    std::uint64_t sequence = 0;

    Result<void> sync() const;
  };
  Ticket sync_ticket() const { return {file_, position_.sequence}; }
  void synced(std::uint64_t sequence);

  // The next record begins a new segment; the old one is synced. kDiskFull, kCannotWrite: the log
  // goes on in the old one. Nothing happens where no record is in this one yet.
  Result<void> begin_segment();

  const LogPosition& position() const { return position_; }
  std::uint64_t synced_sequence() const { return synced_; }
  std::uint64_t unsynced_count() const { return position_.sequence - synced_; }
  std::uint64_t segment_bytes() const { return file_->size_bytes(); }
  std::uint64_t room_bytes() const {  // that is left
    return room_end_bytes_ - std::min(room_end_bytes_, position_.offset_bytes);
  }

 private:
  LedgerLog(Disk& disk, const Digest& job_id) : disk_(&disk), job_id_(job_id) {}
  Result<void> clean_up(const LogEnd& end);
  Result<void> go_on(const LogEnd& end);
  Result<void> start_segment();
  Result<void> abandon_segment(const std::string& name, const Error& why);

  Disk* disk_;
  Digest job_id_;
  DiskFilePtr file_;
  LogPosition position_;
  std::uint64_t synced_ = 0;
  std::uint64_t room_end_bytes_ = 0;  // of the file; behind the last record where it was made
  bool room_refused_ = false;         // in this segment: a full disk is not filled again and again
};

}  // namespace wide::store
