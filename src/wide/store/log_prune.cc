#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include "wide/base/failpoint.h"
#include "wide/store/ledger_log.h"
#include "wide/store/log_segment.h"

namespace wide::store {
namespace {

constexpr std::size_t kPendingBytes = 1u << 20;  // written at once: records without bulks are small

class Pruner final {
 public:
  Pruner(Disk& disk, const Digest& job_id, std::uint64_t segment)
      : disk_(disk), job_id_(job_id), segment_(segment), name_(segment_name(segment)) {}

  // The bytes of all bulks that are there.
  Result<std::uint64_t> bulk_bytes();
  Result<void> rewrite();

 private:
  using Each = std::function<Result<void>(const SegmentReader&)>;
  Result<void> for_each_record(const Each& each);
  Result<void> check_that_next_follows(const LogPosition& end);
  Result<void> copy_without_bulks(DiskFile& file);

  Disk& disk_;
  const Digest& job_id_;
  std::uint64_t segment_;
  std::string name_;
  BufferPool buffers_;
};

Result<void> Pruner::for_each_record(const Each& each) {
  auto reader = SegmentReader::open(disk_, job_id_, segment_);
  if (!reader) {
    return fail(reader.error().code,
                fmt::format("{}: {}", disk_.path(name_), reader.error().detail));
  }
  if (reader->position().segment != segment_) {
    return fail(Errc::kLogDamaged, fmt::format("{} at byte 0: the file is segment {}",
                                               disk_.path(name_), reader->position().segment));
  }
  while (!reader->at_end()) {
    if (auto done = reader->next(buffers_, SegmentReader::Bulks::kSkip); !done) {
      return fail(done.error().code, fmt::format("{} at byte {}: record {}: {}", disk_.path(name_),
                                                 reader->position().offset_bytes,
                                                 reader->position().sequence, done.error().detail));
    }
    if (auto done = each(*reader); !done) return done;
  }
  return check_that_next_follows(reader->position());
}

// Room at its end may be records that were lost.
Result<void> Pruner::check_that_next_follows(const LogPosition& end) {
  const auto segments = log_segments(disk_);
  if (!segments) return tl::unexpected(segments.error());
  const auto next = std::ranges::upper_bound(*segments, segment_);
  if (next == segments->end() || *next == end.sequence) return {};
  return fail(
      Errc::kLogDamaged,
      fmt::format("{} at byte {}: record {}: it is missing, and the next segment begins at {}",
                  disk_.path(name_), end.offset_bytes, end.sequence, *next));
}

Result<std::uint64_t> Pruner::bulk_bytes() {
  std::uint64_t total_bytes = 0;
  auto done = for_each_record([&](const SegmentReader& reader) -> Result<void> {
    total_bytes += reader.header().rest_bytes() - reader.header().body_bytes;
    return {};
  });
  if (!done) return tl::unexpected(std::move(done.error()));
  return total_bytes;
}

Result<void> Pruner::copy_without_bulks(DiskFile& file) {
  const auto old_file = disk_.open(name_, Open::kRead);
  if (!old_file) return tl::unexpected(old_file.error());
  std::vector<std::byte> pending(kSegmentHeaderBytes);
  if (auto done = (*old_file)->read(0, pending); !done) return done;
  const auto write_pending = [&] {
    const std::array pieces = {std::span<const std::byte>(pending)};
    auto done = file.append(pieces);
    pending.clear();
    return done;
  };

  auto done = for_each_record([&](const SegmentReader& reader) -> Result<void> {
    auto header = reader.header();
    header.bulk_taken_out |= header.bulk_bytes > 0;
    const auto bytes = encode_header(header, reader.body());
    pending.insert(pending.end(), bytes.begin(), bytes.end());
    pending.insert(pending.end(), reader.body().begin(), reader.body().end());
    return pending.size() < kPendingBytes ? Result<void>() : write_pending();
  });
  return done.and_then(write_pending);
}

Result<void> Pruner::rewrite() {
  const auto aside = aside_name(name_);
  auto file = disk_.open(aside, Open::kAnew);
  auto done = file ? copy_without_bulks(**file).and_then([&] { return (*file)->sync(); })
                   : Result<void>(tl::unexpected(file.error()));
  if (done) {
    failpoint("prune.before");
    done = disk_.rename(aside, name_);
  }
  if (!done) {
    (void)disk_.remove(aside);  // what went wrong first is what matters
    return done;
  }
  failpoint("prune.renamed");
  return disk_.sync_folder(kLedgerFolder);
}

}  // namespace

Result<std::uint64_t> take_bulks_out(Disk& disk, const Digest& job_id, std::uint64_t segment) {
  Pruner pruner(disk, job_id, segment);
  auto bytes = pruner.bulk_bytes();
  if (!bytes || *bytes == 0) return bytes;
  if (auto done = pruner.rewrite(); !done) return tl::unexpected(std::move(done.error()));
  return bytes;
}

}  // namespace wide::store
