#pragma once
// For tests: records to write into a ledger log, and the log read back as such records.

#include <string>
#include <utility>
#include <vector>

#include "wide/base/check.h"
#include "wide/store/ledger_log.h"

namespace wide::store {

inline std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

inline const Digest& example_job() {
  static const Digest job = sha256("example job");
  return job;
}

struct ExampleRecord {
  std::uint16_t type = 0;
  std::string body;
  std::string bulk;
  bool taken_out = false;

  friend bool operator==(const ExampleRecord&, const ExampleRecord&) = default;
};

// A body and a bulk that no other record has; every third has no bulk.
inline ExampleRecord example_record(std::uint64_t number) {
  const auto text = std::to_string(number);
  return {static_cast<std::uint16_t>(number + 1), "body " + text + std::string(number % 5, 'x'),
          number % 3 == 2 ? "" : "bulk " + text + std::string(40, static_cast<char>('a' + number)),
          false};
}

inline Result<void> append(LedgerLog& log, const ExampleRecord& record) {
  return log.append(record.type, bytes_of(record.body), bytes_of(record.bulk));
}

struct ReadBack {
  std::vector<ExampleRecord> records;
  Result<LogEnd> end;
};

inline ReadBack read_back(Disk& disk, const LogPosition& from = {}, std::uint64_t synced_to = 0) {
  ReadBack back{{}, LogEnd{}};
  const LogQuestion question{example_job(), from, synced_to};
  back.end = read_log(disk, question, [&](const ReadRecord& read) -> Result<void> {
    const std::string body(reinterpret_cast<const char*>(read.body.data()), read.body.size());
    const auto bulk = read.bulk ? std::string(reinterpret_cast<const char*>(read.bulk->begin()),
                                              read.header.bulk_bytes)
                                : std::string();
    back.records.push_back({read.header.type, body, bulk, read.header.bulk_taken_out});
    return {};
  });
  return back;
}

// Records 0 to `count`, a new segment before each of `segments_at`, synced after each of
// `synced_after`.
struct LogPlan {
  std::uint64_t count = 0;
  std::vector<std::uint64_t> segments_at;
  std::vector<std::uint64_t> synced_after;
};

inline LedgerLog write_log(Disk& disk, const LogPlan& plan) {
  auto log = LedgerLog::create(disk, example_job()).value();
  const auto holds = [](const std::vector<std::uint64_t>& list, std::uint64_t number) {
    return std::find(list.begin(), list.end(), number) != list.end();
  };
  for (std::uint64_t i = 0; i < plan.count; ++i) {
    if (holds(plan.segments_at, i)) WIDE_CHECK(log.begin_segment());
    WIDE_CHECK(append(log, example_record(i)));
    if (holds(plan.synced_after, i)) WIDE_CHECK(log.sync());
  }
  return log;
}

inline std::vector<ExampleRecord> example_records(std::uint64_t count) {
  std::vector<ExampleRecord> records;
  for (std::uint64_t i = 0; i < count; ++i) records.push_back(example_record(i));
  return records;
}

}  // namespace wide::store
