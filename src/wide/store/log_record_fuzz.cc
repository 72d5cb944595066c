// Any bytes as the files of a ledger log: reading ends, gives no more than was there, and what it
// calls a torn tail can be cut and gone on from. Once as they are, and once with checks, sequences
// and the chain put right, so that the rest is reached.
//
//   first byte: first sequence of the second segment | u16: bytes of the first | both files

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "wide/base/check.h"
#include "wide/store/ledger_log.h"
#include "wide/store/log_segment.h"
#include "wide/store/memory_disk.h"

namespace wide::store {
namespace {

// Puts right whatever is shaped like a segment with records.
LogPosition mend(std::vector<std::byte>& file, LogPosition at) {
  const auto segment_header = encode_segment_header({at.sequence, {}, at.previous});
  if (file.size() < segment_header.size()) return at;
  std::ranges::copy(segment_header, file.begin());
  std::size_t offset = segment_header.size();
  while (file.size() - offset >= kRecordHeaderBytes) {
    const auto header_bytes = std::span(file).subspan(offset, kRecordHeaderBytes);
    std::memcpy(header_bytes.data(), "WREC", 4);
    std::memcpy(&header_bytes[16], &at.sequence, 8);
    std::memcpy(&header_bytes[48], at.previous.bytes.data(), 32);
    const auto header = decode_header(header_bytes);
    const auto left = file.size() - offset - kRecordHeaderBytes;
    if (!header || header->rest_bytes() > left) return at;
    const auto body = std::span(file).subspan(offset + kRecordHeaderBytes, header->body_bytes);
    auto mended = *header;
    if (!mended.bulk_taken_out) {
      mended.bulk_check = xxh3(
          std::span(file).subspan(offset + kRecordHeaderBytes + body.size(), mended.bulk_bytes));
    }
    std::ranges::copy(encode_header(mended, body), header_bytes.begin());
    ++at.sequence;
    at.previous = record_digest(mended, body);
    offset += kRecordHeaderBytes + mended.rest_bytes();
  }
  return at;
}

void read_and_go_on(MemoryDisk& disk, std::size_t size_max) {
  std::uint64_t count = 0;
  std::size_t seen_bytes = 0;
  const auto count_records = [&](const ReadRecord& record) -> Result<void> {
    WIDE_CHECK(record.header.sequence == count++);
    WIDE_CHECK(record.body.size() == record.header.body_bytes);
    seen_bytes += kRecordHeaderBytes + record.header.rest_bytes();
    if (record.bulk) {
      WIDE_CHECK(xxh3(record.bulk->first(record.header.bulk_bytes)) == record.header.bulk_check);
    }
    return {};
  };
  const LogQuestion question;
  const auto end = read_log(disk, question, count_records);
  WIDE_CHECK(seen_bytes <= size_max);
  if (!end) {
    const auto code = end.error().code;
    WIDE_CHECK(code == Errc::kLogDamaged || code == Errc::kOtherJob ||
               code == Errc::kOtherFileVersion);
    return;
  }
  WIDE_CHECK(end->position.sequence == count);

  auto log = LedgerLog::open(disk, question.job_id, *end);
  WIDE_CHECK(log.has_value() && log->append(7, {}, {}).has_value());
  const auto total = count + 1;
  count = 0;
  const auto again = read_log(disk, question, count_records);
  WIDE_CHECK(again.has_value() && !again->torn && count == total);
  WIDE_CHECK(take_bulks_out(disk, question.job_id, 0).has_value());
  count = 0;
  const auto pruned = read_log(disk, question, count_records);
  WIDE_CHECK(pruned.has_value() && pruned->position.previous == again->position.previous);
}

void read_both_ways(std::uint64_t second_sequence, std::vector<std::byte> first,
                    std::vector<std::byte> second) {
  const auto size_bytes = first.size() + second.size();
  for (const bool mended : {false, true}) {
    const auto end = mended ? mend(first, {}) : LogPosition{second_sequence, {}, 0, 0};
    if (mended) mend(second, end);
    MemoryDisk disk;
    WIDE_CHECK(disk.make_folder("ledger").has_value());
    disk.file(segment_name(0)) = first;
    if (!second.empty() && end.sequence > 0) disk.file(segment_name(end.sequence)) = second;
    read_and_go_on(disk, size_bytes);
  }
}

}  // namespace
}  // namespace wide::store

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size < 3) return 0;
  const auto files = std::as_bytes(std::span(bytes, size)).subspan(3);
  const auto split = std::min<std::size_t>(bytes[1] + 256u * bytes[2], files.size());
  const auto first = files.first(split), second = files.subspan(split);
  wide::store::read_both_ways(bytes[0], {first.begin(), first.end()},
                              {second.begin(), second.end()});
  return 0;
}
