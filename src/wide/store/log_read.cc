// Reading the ledger log: every record is checked, and what does not check is judged.
//
// A segment begins only once the one before is synced, and is itself synced before a record goes
// into it. So a later segment file, a record in a segment, and a record's own word `synced` each
// prove that what stands before was on the disk: damage there is no torn tail.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "wide/store/ledger_log.h"
#include "wide/store/log_segment.h"

namespace wide::store {
namespace {

class LogReader final {
 public:
  LogReader(Disk& disk, const LogQuestion& question, const RecordVisitor& visit,
            std::vector<std::uint64_t> segments)
      : disk_(disk), question_(question), visit_(visit), segments_(std::move(segments)) {}

  Result<LogEnd> read();

 private:
  using Flaw = std::optional<Error>;  // of the record, or segment header, at at_

  Result<Flaw> read_segment();
  Result<Flaw> read_records(SegmentReader& reader);
  Result<void> enter(SegmentReader& reader);
  Result<void> walk(SegmentReader& reader);

  Result<LogEnd> judge(const Error& flaw);
  Result<bool> was_synced();
  Result<LogEnd> finish() const;
  tl::unexpected<Error> damaged(std::string_view why) const;
  std::string file_name() const { return disk_.path(segment_name(segment_)); }

  Disk& disk_;
  const LogQuestion& question_;
  const RecordVisitor& visit_;
  const std::vector<std::uint64_t> segments_;
  BufferPool buffers_;
  std::uint64_t segment_ = 0;  // being read
  bool in_header_ = true;      // of that segment, which is not read yet
  LogPosition at_;             // behind the last record that is whole
};

tl::unexpected<Error> LogReader::damaged(std::string_view why) const {
  return fail(Errc::kLogDamaged, fmt::format("{} at byte {}: record {}: {}", file_name(),
                                             in_header_ ? 0 : at_.offset_bytes, at_.sequence, why));
}

Result<LogEnd> LogReader::read() {
  at_ = question_.from;
  segment_ = at_.segment;
  if (!std::ranges::binary_search(segments_, segment_)) return damaged("the file is missing");
  while (true) {
    const auto flaw = read_segment();
    if (!flaw) return tl::unexpected(flaw.error());
    if (*flaw) return judge(**flaw);
    const auto next = std::ranges::upper_bound(segments_, segment_);
    if (next == segments_.end()) return finish();
    if (*next != at_.sequence) {
      return damaged(fmt::format("it is missing, and the next segment begins at {}", *next));
    }
    segment_ = *next;
  }
}

Result<LogReader::Flaw> LogReader::read_segment() {
  in_header_ = true;
  auto reader = SegmentReader::open(disk_, question_.job_id, segment_);
  if (!reader && reader.error().code == Errc::kLogDamaged) {
    // A position other than the beginning is only ever told once its segment is on the disk.
    if (question_.from.segment == segment_ && question_.from.sequence > 0) {
      return damaged(reader.error().detail);
    }
    return Flaw(reader.error());
  }
  if (!reader) return tl::unexpected(reader.error());
  if (reader->position().segment != segment_) {
    return damaged(fmt::format("the file is segment {}", reader->position().segment));
  }
  in_header_ = false;
  if (auto done = enter(*reader); !done) return tl::unexpected(std::move(done.error()));
  at_ = reader->position();
  return read_records(*reader);
}

// To where reading begins in this segment.
Result<void> LogReader::enter(SegmentReader& reader) {
  const LogPosition start = reader.position();
  if (at_.sequence != start.sequence) {
    reader.seek(at_);
    const bool is_place = at_.offset_bytes >= start.offset_bytes &&
                          reader.next(buffers_, SegmentReader::Bulks::kSkip);
    reader.seek(is_place ? at_ : start);
    if (!is_place) return walk(reader);
  } else if (at_.previous != start.previous) {
    return damaged("the segment follows another record");
  }
  return {};
}

// Record by record from the start: bulks may have been taken out since the place was written down,
// or nothing stands there to prove that it is one.
Result<void> LogReader::walk(SegmentReader& reader) {
  const LogPosition wanted = at_;
  while (reader.position().sequence < wanted.sequence) {
    at_ = reader.position();
    if (auto done = reader.next(buffers_, SegmentReader::Bulks::kSkip); !done) {
      if (done.error().code != Errc::kLogDamaged) return done;
      return damaged(
          fmt::format("{}, although record {} follows", done.error().detail, wanted.sequence));
    }
  }
  at_ = reader.position();
  if (at_.previous != wanted.previous) return damaged("it follows another record");
  return {};
}

Result<LogReader::Flaw> LogReader::read_records(SegmentReader& reader) {
  while (!reader.at_end()) {
    if (auto done = reader.next(buffers_, SegmentReader::Bulks::kRead); !done) {
      if (done.error().code == Errc::kLogDamaged) return Flaw(std::move(done.error()));
      return tl::unexpected(std::move(done.error()));
    }
    at_ = reader.position();
    const ReadRecord record{reader.header(), reader.body(), reader.bulk(), at_};
    if (auto done = visit_(record); !done) return tl::unexpected(std::move(done.error()));
  }
  return Flaw();
}

// A torn tail, or damage?
Result<LogEnd> LogReader::judge(const Error& flaw) {
  const auto synced = was_synced();
  if (!synced) return tl::unexpected(synced.error());
  if (*synced) return damaged(fmt::format("{}, although it was synced", flaw.detail));

  const auto file = disk_.open(segment_name(segment_), Open::kRead);
  if (!file) return tl::unexpected(file.error());
  const auto file_end_bytes = end_bytes(**file);
  if (!file_end_bytes) return tl::unexpected(file_end_bytes.error());
  const std::uint64_t offset_bytes = in_header_ ? 0 : at_.offset_bytes;
  LogEnd end{at_, TornTail{file_name(), offset_bytes, *file_end_bytes - offset_bytes}, {}};
  if (in_header_) end.doomed_segments = {segment_};
  return end;
}

Result<bool> LogReader::was_synced() {
  if (question_.synced_to > at_.sequence || segments_.back() > segment_) return true;
  const auto file = disk_.open(segment_name(segment_), Open::kRead);
  if (!file) return tl::unexpected(file.error());
  // Any record in this segment proves the header; only a later one proves the record.
  return in_header_ ? proves_synced(**file, 0, at_.sequence)
                    : proves_synced(**file, at_.offset_bytes, at_.sequence + 1);
}

Result<LogEnd> LogReader::finish() const {
  if (question_.synced_to > at_.sequence) {
    return damaged(fmt::format("it is missing, although the records below {} were synced",
                               question_.synced_to));
  }
  return LogEnd{at_, std::nullopt, {}};
}

}  // namespace

Result<LogEnd> read_log(Disk& disk, const LogQuestion& question, const RecordVisitor& visit) {
  auto segments = log_segments(disk);
  if (!segments) return tl::unexpected(std::move(segments.error()));
  if (segments->empty()) {
    return fail(Errc::kRunMissing, fmt::format("{}: no segment", disk.path(kLedgerFolder)));
  }
  return LogReader(disk, question, visit, std::move(*segments)).read();
}

}  // namespace wide::store
