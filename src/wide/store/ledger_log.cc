#include "wide/store/ledger_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "wide/base/check.h"
#include "wide/base/failpoint.h"
#include "wide/store/log_segment.h"

namespace wide::store {
namespace {

constexpr std::string_view kHalf = "ledger.append.half";

Result<void> append_in_halves(DiskFile& file, Pieces pieces) {
  const auto [header, body, bulk] = std::tuple(pieces[0], pieces[1], pieces[2]);
  const std::array first = {header, body.first(body.size() / 2)};
  if (auto done = file.append(first); !done) return done;
  failpoint(kHalf);
  const std::array second = {body.subspan(body.size() / 2), bulk};
  return file.append(second);
}

// What a pruner that was killed left behind.
Result<void> remove_asides(Disk& disk) {
  const auto names = disk.list(kLedgerFolder);
  if (!names) return tl::unexpected(names.error());
  for (const auto& name : *names) {
    if (!is_aside(name)) continue;
    if (auto done = disk.remove(fmt::format("{}/{}", kLedgerFolder, name)); !done) return done;
  }
  return {};
}

tl::unexpected<Error> left_over(const Error& first, const Error& second) {
  return fail(Errc::kSyncFailed,
              fmt::format("{}; then, cleaning up, {}", first.detail, second.detail));
}

}  // namespace

Result<LedgerLog> LedgerLog::create(Disk& disk, const Digest& job_id) {
  if (auto done = disk.make_folder(kLedgerFolder); !done) return tl::unexpected(done.error());
  const auto segments = log_segments(disk);
  if (!segments) return tl::unexpected(segments.error());
  if (!segments->empty()) {
    return fail(Errc::kCannotWrite,
                fmt::format("{}: a log is there already", disk.path(kLedgerFolder)));
  }
  LedgerLog log(disk, job_id);
  if (auto done = log.start_segment(); !done) return tl::unexpected(std::move(done.error()));
  if (auto done = disk.sync_folder(""); !done) return tl::unexpected(std::move(done.error()));
  return log;
}

Result<LedgerLog> LedgerLog::open(Disk& disk, const Digest& job_id, const LogEnd& end) {
  LedgerLog log(disk, job_id);
  log.position_ = end.position;
  auto done = log.clean_up(end).and_then([&] { return log.go_on(end); });
  if (!done) return tl::unexpected(std::move(done.error()));
  return log;
}

Result<void> LedgerLog::clean_up(const LogEnd& end) {
  if (auto done = remove_asides(*disk_); !done) return done;
  for (const auto segment : end.doomed_segments) {
    auto done = disk_->remove(segment_name(segment));
    if (!done && done.error().code != Errc::kRunMissing) return done;
  }
  return {};
}

// Whoever wrote the log before may have been killed between a write and its sync: from here on all
// that was read is on the disk.
Result<void> LedgerLog::go_on(const LogEnd& end) {
  if (std::ranges::find(end.doomed_segments, position_.segment) != end.doomed_segments.end()) {
    WIDE_CHECK(position_.sequence == 0, "only the first segment may be lost as a whole");
    return start_segment().and_then([this] { return disk_->sync_folder(""); });
  }
  const auto name = segment_name(position_.segment);
  auto file = disk_->open(name, Open::kAppend);
  if (!file) return tl::unexpected(std::move(file.error()));
  file_ = std::move(*file);
  if (file_->size_bytes() < position_.offset_bytes) {
    return fail(Errc::kLogDamaged, fmt::format("{} at byte {}: it became shorter",
                                               disk_->path(name), file_->size_bytes()));
  }
  if (file_->size_bytes() > position_.offset_bytes) {
    failpoint("ledger.cut.before");
    if (auto done = file_->cut(position_.offset_bytes); !done) return done;
    failpoint("ledger.cut.after");
  }
  return sync().and_then([this] { return disk_->sync_folder(kLedgerFolder); }).and_then([this] {
    return disk_->sync_folder("");
  });
}

Result<void> LedgerLog::append(std::uint16_t type, std::span<const std::byte> body,
                               std::span<const std::byte> bulk) {
  WIDE_CHECK(body.size() <= kBodyBytesMax && bulk.size() <= kBulkBytesMax);
  RecordHeader header;
  header.type = type;
  header.body_bytes = static_cast<std::uint32_t>(body.size());
  header.sequence = position_.sequence;
  header.synced = synced_;
  header.bulk_bytes = bulk.size();
  header.bulk_check = xxh3(bulk);
  header.previous = position_.previous;
  const auto header_bytes = encode_header(header, body);

  failpoint("ledger.append.before");
  const std::array pieces = {std::span<const std::byte>(header_bytes), body, bulk};
  auto done = failpoint_armed(kHalf) ? append_in_halves(*file_, pieces) : file_->append(pieces);
  if (!done) {
    const auto cut = file_->cut(position_.offset_bytes);
    room_end_bytes_ = 0;
    return cut ? done : left_over(done.error(), cut.error());
  }
  failpoint("ledger.append.after");

  ++position_.sequence;
  position_.previous = record_digest(header, body);
  position_.offset_bytes += kRecordHeaderBytes + header.rest_bytes();
  return {};
}

void LedgerLog::make_room(std::uint64_t bytes) {
  if (room_refused_) return;
  const std::uint64_t end_bytes =
      (position_.offset_bytes + bytes + kRoomUnitBytes - 1) / kRoomUnitBytes * kRoomUnitBytes;
  room_refused_ = !file_->make_room(end_bytes - position_.offset_bytes);
  if (!room_refused_) room_end_bytes_ = end_bytes;
}

// Room that was refused may be there in part.
Result<void> LedgerLog::give_room_back() {
  if (room_end_bytes_ == 0 && !room_refused_) return {};
  if (auto done = file_->cut(position_.offset_bytes); !done) return done;
  room_end_bytes_ = 0;
  return {};
}

Result<void> LedgerLog::Ticket::sync() const {
  failpoint("ledger.sync.before");
  if (auto done = file->sync(); !done) return done;
  failpoint("ledger.sync.after");
  return {};
}

Result<void> LedgerLog::sync() {
  const auto ticket = sync_ticket();
  if (auto done = ticket.sync(); !done) return done;
  synced(ticket.sequence);
  return {};
}

void LedgerLog::synced(std::uint64_t sequence) {
  WIDE_CHECK(sequence <= position_.sequence);
  synced_ = std::max(synced_, sequence);
}

Result<void> LedgerLog::begin_segment() {
  if (position_.sequence == position_.segment) return {};  // nothing is in this one yet
  if (auto done = give_room_back().and_then([this] { return sync(); }); !done) return done;
  return start_segment();
}

// The folder is synced before any record goes into the file: a record proves its segment.
Result<void> LedgerLog::start_segment() {
  const auto name = segment_name(position_.sequence);
  const auto header = encode_segment_header({position_.sequence, job_id_, position_.previous});
  const std::array pieces = {std::span<const std::byte>(header)};
  auto file = disk_->open(name, Open::kAnew);
  auto done = file ? (*file)->append(pieces) : Result<void>(tl::unexpected(file.error()));
  done = done.and_then([&] { return (*file)->sync(); }).and_then([&] {
    return disk_->sync_folder(kLedgerFolder);
  });
  if (!done) return abandon_segment(name, done.error());

  file_ = std::move(*file);
  position_.segment = position_.sequence;
  position_.offset_bytes = kSegmentHeaderBytes;
  room_end_bytes_ = 0;
  room_refused_ = false;
  failpoint("ledger.segment.begun");
  return {};
}

// Its name must be gone for good before another record goes into the old segment: the file would
// say that no record of this sequence belongs there.
Result<void> LedgerLog::abandon_segment(const std::string& name, const Error& why) {
  if (why.code == Errc::kSyncFailed) return tl::unexpected(why);
  auto removed = disk_->remove(name);
  if (!removed && removed.error().code == Errc::kRunMissing) return tl::unexpected(why);
  if (removed) removed = disk_->sync_folder(kLedgerFolder);
  if (!removed) return left_over(why, removed.error());
  return tl::unexpected(why);
}

}  // namespace wide::store
