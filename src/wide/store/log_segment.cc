#include "wide/store/log_segment.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "wide/base/bytes.h"
#include "wide/base/check.h"

namespace wide::store {
namespace {

constexpr std::string_view kSegmentMagic = "WIDELOG1";
constexpr std::string_view kRecordMagicText = "WREC";
constexpr std::size_t kCheckedBytes = kSegmentHeaderBytes - sizeof(std::uint64_t);
constexpr std::size_t kWindowBytes = 1u << 20;
constexpr std::size_t kTailBytes = 64u << 10;
constexpr std::string_view kSegmentSuffix = ".log";

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// A record at this place, whole by its own check alone, that says so.
Result<bool> proves_synced_here(const DiskFile& file, std::uint64_t offset_bytes,
                                std::uint64_t sequence) {
  const auto left_bytes = file.size_bytes() - offset_bytes;
  std::array<std::byte, kRecordHeaderBytes> bytes;
  if (left_bytes < bytes.size()) return false;
  // A disk that cannot be read now proves nothing, one way or the other.
  if (auto done = file.read(offset_bytes, bytes); !done) return tl::unexpected(done.error());
  const auto header = decode_header(bytes);
  if (!header || header->synced < sequence) return false;
  if (header->body_bytes > left_bytes - bytes.size()) return false;
  std::vector<std::byte> body(header->body_bytes);
  auto done = file.read(offset_bytes + bytes.size(), body);
  if (!done) return tl::unexpected(done.error());
  return check_matches(bytes, body);
}

std::optional<std::uint64_t> segment_of(std::string_view name) {
  if (!name.ends_with(kSegmentSuffix)) return std::nullopt;
  const auto digits = name.substr(0, name.size() - kSegmentSuffix.size());
  std::uint64_t first = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), first);
  const bool is_number = error == std::errc() && end == digits.data() + digits.size();
  // Only names that we would give: "1.log" is somebody else's.
  if (!is_number || fmt::format("{:012}", first) != digits) return std::nullopt;
  return first;
}

}  // namespace

std::string segment_name(std::uint64_t first_sequence) {
  return fmt::format("{}/{:012}{}", kLedgerFolder, first_sequence, kSegmentSuffix);
}

Result<std::vector<std::uint64_t>> log_segments(Disk& disk) {
  const auto names = disk.list(kLedgerFolder);
  if (!names) return tl::unexpected(names.error());
  std::vector<std::uint64_t> segments;
  for (const auto& name : *names) {
    if (const auto first = segment_of(name)) segments.push_back(*first);
  }
  std::ranges::sort(segments);
  return segments;
}

std::vector<std::byte> encode_segment_header(const SegmentHeader& header) {
  ByteWriter writer(kSegmentHeaderBytes);
  writer.raw(bytes_of(kSegmentMagic));
  writer.put(kLogFormat);
  writer.put(std::uint32_t{0});
  writer.put(header.first_sequence);
  writer.digest(header.job_id);
  writer.digest(header.previous);
  auto bytes = writer.take();
  const auto check = xxh3(bytes);
  const auto check_bytes = std::as_bytes(std::span(&check, 1));
  bytes.insert(bytes.end(), check_bytes.begin(), check_bytes.end());
  return bytes;
}

Result<SegmentHeader> decode_segment_header(std::span<const std::byte> bytes) {
  WIDE_CHECK(bytes.size() == kSegmentHeaderBytes);
  ByteReader reader(bytes);
  SegmentHeader header;
  const bool has_magic =
      std::ranges::equal(reader.raw(kSegmentMagic.size()), bytes_of(kSegmentMagic));
  const auto format = reader.get<std::uint32_t>();
  const auto reserved = reader.get<std::uint32_t>();
  header.first_sequence = reader.get<std::uint64_t>();
  header.job_id = reader.digest();
  header.previous = reader.digest();

  // The check stands first: a damaged number must not pass for another version.
  if (!has_magic || reader.get<std::uint64_t>() != xxh3(bytes.first(kCheckedBytes))) {
    return fail(Errc::kLogDamaged, "the segment's header is not whole");
  }
  if (format != kLogFormat || reserved != 0) {
    return fail(Errc::kOtherFileVersion,
                fmt::format("log format {}, this wide reads {}", format, kLogFormat));
  }
  return header;
}

SegmentReader::SegmentReader(DiskFilePtr file, std::uint64_t end_bytes, const SegmentHeader& header)
    : file_(std::move(file)),
      end_bytes_(end_bytes),
      position_{header.first_sequence, header.previous, header.first_sequence,
                kSegmentHeaderBytes} {}

Result<SegmentReader> SegmentReader::open(Disk& disk, const Digest& job_id, std::uint64_t segment) {
  const auto name = segment_name(segment);
  auto file = disk.open(name, Open::kRead);
  if (!file) return tl::unexpected(std::move(file.error()));
  std::array<std::byte, kSegmentHeaderBytes> bytes;
  if ((*file)->size_bytes() < bytes.size()) {
    return fail(Errc::kLogDamaged, "the segment's header is not whole");
  }
  if (auto done = (*file)->read(0, bytes); !done) return tl::unexpected(std::move(done.error()));
  const auto header = decode_segment_header(bytes);
  if (!header && header.error().code == Errc::kLogDamaged) return tl::unexpected(header.error());
  if (!header) {
    return fail(header.error().code, fmt::format("{}: {}", disk.path(name), header.error().detail));
  }
  if (header->job_id != job_id) {
    return fail(Errc::kOtherJob, fmt::format("{}: the log of job {}, not of {}", disk.path(name),
                                             header->job_id.short_hex(), job_id.short_hex()));
  }
  const auto end = end_bytes(**file);
  if (!end) return tl::unexpected(end.error());
  return SegmentReader(std::move(*file), *end, *header);
}

Result<void> SegmentReader::next(BufferPool& buffers, Bulks bulks) {
  bulk_.reset();
  const auto header = read_header_and_body();
  if (!header) return tl::unexpected(header.error());
  if (bulks == Bulks::kRead && !header->bulk_taken_out && header->bulk_bytes > 0) {
    if (auto done = read_bulk(*header, buffers); !done) return done;
  }

  header_ = *header;
  ++position_.sequence;
  position_.previous = record_digest(header_, body_);
  position_.offset_bytes += kRecordHeaderBytes + header_.rest_bytes();
  return {};
}

Result<RecordHeader> SegmentReader::read_header_and_body() {
  const auto damaged = [](std::string_view why) {
    return fail(Errc::kLogDamaged, std::string(why));
  };
  if (position_.offset_bytes > file_->size_bytes()) return damaged("the file is shorter");
  std::array<std::byte, kRecordHeaderBytes> bytes;
  if (left_bytes() < bytes.size()) return damaged("the record's header is not whole");
  if (auto done = file_->read(position_.offset_bytes, bytes); !done) {
    return tl::unexpected(std::move(done.error()));
  }
  auto header = decode_header(bytes);
  if (!header) return header;
  if (header->rest_bytes() > left_bytes() - bytes.size()) return damaged("it is not whole");

  body_.resize(header->body_bytes);
  if (auto done = file_->read(position_.offset_bytes + bytes.size(), body_); !done) {
    return tl::unexpected(std::move(done.error()));
  }
  if (!check_matches(bytes, body_)) return damaged("its checksum differs");
  if (header->sequence != position_.sequence) {
    return damaged(fmt::format("record {} in its place", header->sequence));
  }
  if (header->previous != position_.previous) return damaged("it follows another record");
  return header;
}

Result<void> SegmentReader::read_bulk(const RecordHeader& header, BufferPool& buffers) {
  auto bulk = buffers.take(header.bulk_bytes);
  const auto into = bulk->first(header.bulk_bytes);
  const auto offset_bytes = position_.offset_bytes + kRecordHeaderBytes + header.body_bytes;
  if (auto done = file_->read(offset_bytes, into); !done) return done;
  if (xxh3(into) != header.bulk_check) {
    return fail(Errc::kLogDamaged, "its bulk's checksum differs");
  }
  bulk_ = std::move(bulk);
  return {};
}

Result<std::uint64_t> end_bytes(const DiskFile& file) {
  std::vector<std::byte> window;
  std::uint64_t zeros_from_bytes = file.size_bytes();
  if (zeros_from_bytes % kRoomUnitBytes != 0) return zeros_from_bytes;
  while (zeros_from_bytes > 0) {
    const auto begin_bytes =
        zeros_from_bytes - std::min<std::uint64_t>(kTailBytes, zeros_from_bytes);
    window.resize(zeros_from_bytes - begin_bytes);
    if (auto done = file.read(begin_bytes, window); !done) return tl::unexpected(done.error());
    const auto last = std::find_if(window.rbegin(), window.rend(),
                                   [](std::byte byte) { return byte != std::byte{0}; });
    if (last != window.rend()) {
      return begin_bytes + static_cast<std::uint64_t>(window.rend() - last);
    }
    zeros_from_bytes = begin_bytes;
  }
  return 0;
}

Result<bool> proves_synced(const DiskFile& file, std::uint64_t offset_bytes,
                           std::uint64_t sequence) {
  std::vector<std::byte> window;
  const auto magic = bytes_of(kRecordMagicText);
  const auto size_bytes = file.size_bytes();
  while (offset_bytes + kRecordHeaderBytes <= size_bytes) {
    window.resize(std::min<std::uint64_t>(kWindowBytes, size_bytes - offset_bytes));
    if (auto done = file.read(offset_bytes, window); !done) {
      return tl::unexpected(std::move(done.error()));
    }
    const auto next = [&](auto from) {
      return std::search(from, window.end(), magic.begin(), magic.end());
    };
    for (auto found = next(window.begin()); found != window.end(); found = next(found + 1)) {
      const auto at_bytes = offset_bytes + static_cast<std::uint64_t>(found - window.begin());
      const auto proven = proves_synced_here(file, at_bytes, sequence);
      if (!proven || *proven) return proven;
    }
    // The windows overlap by less than a magic, which may lie across their edge.
    offset_bytes += window.size() - (magic.size() - 1);
  }
  return false;
}

}  // namespace wide::store
