// The ledger log cut anywhere, and with any bit flipped: what comes back is what was written, or a
// clear no.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wide/store/example_log.h"
#include "wide/store/ledger_log.h"
#include "wide/store/log_segment.h"
#include "wide/store/memory_disk.h"

namespace wide::store {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Where each record ends in the file of its segment.
std::vector<LogPosition> positions_behind(Disk& disk) {
  std::vector<LogPosition> positions;
  const auto end = read_log(disk, {example_job(), {}, 0}, [&](const ReadRecord& read) {
    positions.push_back(read.after);
    return Result<void>();
  });
  EXPECT_TRUE(end);
  return positions;
}

// What is left can be gone on with.
void expect_goes_on(MemoryDisk& disk, const ReadBack& back) {
  auto log = LedgerLog::open(disk, example_job(), *back.end);
  ASSERT_TRUE(log) << describe(log.error());
  const auto count = back.records.size();
  for (auto i = count; i < count + 2; ++i) ASSERT_TRUE(append(*log, example_record(i)));
  ASSERT_TRUE(log->begin_segment());
  ASSERT_TRUE(append(*log, example_record(count + 2)));

  const auto again = read_back(disk);
  ASSERT_TRUE(again.end) << describe(again.end.error());
  EXPECT_FALSE(again.end->torn);
  EXPECT_EQ(again.records, example_records(count + 3));
}

void expect_damaged(const Result<LogEnd>& end, const std::string& file,
                    const std::string& words = "") {
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, Errc::kLogDamaged);
  EXPECT_THAT(end.error().detail, AllOf(HasSubstr(file), HasSubstr(" at byte "), HasSubstr(words)));
}

TEST(TornLog, KeepsTheWholeRecordsWhereverItsTailIsCut) {
  MemoryDisk whole;
  write_log(whole, {6, {2}, {}});
  const auto positions = positions_behind(whole);
  const auto from_bytes = positions[2].offset_bytes, to_bytes = positions[5].offset_bytes;
  for (auto size_bytes = from_bytes; size_bytes <= to_bytes; ++size_bytes) {
    MemoryDisk disk(whole);
    disk.file(segment_name(2)).resize(size_bytes);
    std::size_t expected_count = 3;
    while (expected_count < 6 && positions[expected_count].offset_bytes <= size_bytes) {
      ++expected_count;
    }

    const auto back = read_back(disk);

    ASSERT_TRUE(back.end) << size_bytes;
    EXPECT_EQ(back.records, example_records(expected_count)) << size_bytes;
    const auto kept_bytes = positions[expected_count - 1].offset_bytes;
    ASSERT_EQ(back.end->torn.has_value(), size_bytes != kept_bytes);
    if (back.end->torn) {
      EXPECT_EQ(back.end->torn->file, "memory/ledger/000000000002.log");
      EXPECT_EQ(back.end->torn->offset_bytes, kept_bytes);
      EXPECT_EQ(back.end->torn->lost_bytes, size_bytes - kept_bytes);
      EXPECT_EQ(disk.file(segment_name(2)).size(), size_bytes) << "reading changes nothing";
    }
    if (expected_count < 6) expect_damaged(read_back(disk, {}, 6).end, "000000000002.log");
    expect_goes_on(disk, back);
  }
}

TEST(TornLog, LosesASegmentWhoseHeaderIsNotWhole) {
  MemoryDisk whole;
  write_log(whole, {3, {}, {}});
  {
    auto log = LedgerLog::open(whole, example_job(), *read_back(whole).end).value();
    ASSERT_TRUE(log.begin_segment());
  }
  for (std::size_t size_bytes = 0; size_bytes < kSegmentHeaderBytes; ++size_bytes) {
    MemoryDisk disk(whole);
    disk.file(segment_name(3)).resize(size_bytes);

    const auto back = read_back(disk);

    ASSERT_TRUE(back.end);
    EXPECT_EQ(back.records, example_records(3));
    EXPECT_THAT(back.end->doomed_segments, ElementsAre(3));
    EXPECT_EQ(back.end->position.segment, 0u);
    EXPECT_EQ(back.end->torn->lost_bytes, size_bytes);
    expect_goes_on(disk, back);
  }
}

TEST(TornLog, IsEmptyWhereNotEvenItsFirstHeaderIsWhole) {
  MemoryDisk whole;
  write_log(whole, {});
  for (std::size_t size_bytes = 0; size_bytes < kSegmentHeaderBytes; ++size_bytes) {
    for (const std::uint64_t offset_bytes : {std::uint64_t{0}, kSegmentHeaderBytes}) {
      MemoryDisk disk(whole);
      disk.file(segment_name(0)).resize(size_bytes);

      const auto back = read_back(disk, {0, {}, 0, offset_bytes});

      ASSERT_TRUE(back.end);
      EXPECT_EQ(back.end->position.sequence, 0u);
      EXPECT_THAT(back.end->doomed_segments, ElementsAre(0));
      expect_goes_on(disk, back);
    }
  }
}

TEST(TornLog, MayEndInAnything) {
  MemoryDisk whole;
  write_log(whole, {4, {2}, {1}});
  auto random = std::string("WREC") + std::string(3, '\x7f') + "WREC" + std::string(200, 'W');
  for (const auto& rubbish : {std::string(1, '\0'), std::string(5000, '\0'), random}) {
    MemoryDisk disk(whole);
    auto& file = disk.file(segment_name(2));
    file.insert(file.end(), bytes_of(rubbish).begin(), bytes_of(rubbish).end());

    const auto back = read_back(disk);

    ASSERT_TRUE(back.end);
    EXPECT_EQ(back.records, example_records(4));
    EXPECT_EQ(back.end->torn->lost_bytes, rubbish.size());
    expect_goes_on(disk, back);
  }
}

// A power cut may keep a later page and lose an earlier one.
TEST(TornLog, LosesWholeRecordsBehindOneThatWasNotSynced) {
  MemoryDisk disk;
  write_log(disk, {6, {}, {2}});
  const auto positions = positions_behind(disk);
  disk.file(segment_name(0))[positions[2].offset_bytes + 20] ^= std::byte{1};  // in record 3

  const auto back = read_back(disk);

  ASSERT_TRUE(back.end);
  EXPECT_EQ(back.records, example_records(3));
  expect_goes_on(disk, back);
}

// Every bit of two segments, as written and with the bulks of the first taken out.
class FlippedLog : public ::testing::TestWithParam<bool> {};

TEST_P(FlippedLog, NeverGivesAnotherRecordAndNeverLosesASyncedOne) {
  MemoryDisk whole;
  write_log(whole, {8, {4}, {1, 5}});  // 6 and 7 are not synced, and nothing says that they were
  constexpr std::size_t kSyncedCount = 6;
  if (GetParam()) {
    ASSERT_TRUE(take_bulks_out(whole, example_job(), 0));
  }
  const auto written = read_back(whole).records;
  int flip_count = 0, damaged_count = 0, torn_count = 0, undetected_count = 0;
  for (const std::uint64_t segment : {0, 4}) {
    const auto size_bits = whole.file(segment_name(segment)).size() * 8;
    for (std::size_t bit = 0; bit < size_bits; ++bit, ++flip_count) {
      auto& byte = whole.file(segment_name(segment))[bit / 8];
      const auto mask = std::byte{1} << (bit % 8);
      byte ^= mask;
      const auto back = read_back(whole);
      const std::vector kept(written.begin(),
                             written.begin() + static_cast<long>(back.records.size()));
      if (back.records != kept) ++undetected_count;
      if (!back.end) {
        ++damaged_count;
        expect_damaged(back.end, segment_name(segment));
      } else {
        torn_count += back.end->torn ? 1 : 0;
        if (!back.end->torn || kept.size() < kSyncedCount) ++undetected_count;
      }
      byte ^= mask;
    }
  }
  EXPECT_EQ(undetected_count, 0);
  EXPECT_EQ(damaged_count + torn_count, flip_count);
  EXPECT_GT(torn_count, 0);
  EXPECT_GT(flip_count, 7000);
  RecordProperty("flips", flip_count);
}

INSTANTIATE_TEST_SUITE_P(AsWrittenAndPruned, FlippedLog, ::testing::Bool());

TEST(DamagedLog, NamesFileAndOffset) {
  MemoryDisk disk;
  write_log(disk, {5, {2}, {3}});
  auto& file = disk.file(segment_name(2));

  file[kSegmentHeaderBytes] ^= std::byte{1};
  const auto back = read_back(disk);
  EXPECT_EQ(back.records, example_records(2));
  expect_damaged(back.end, "memory/ledger/000000000002.log at byte 96: record 2");

  file[8] ^= std::byte{1};
  expect_damaged(read_back(disk).end, "memory/ledger/000000000002.log at byte 0: record 2");
}

TEST(DamagedLog, IsOneThatLacksASegment) {
  for (const std::uint64_t missing : {0, 2, 4}) {
    MemoryDisk disk;
    write_log(disk, {7, {2, 4, 6}, {}});
    ASSERT_TRUE(disk.remove(segment_name(missing)));

    expect_damaged(read_back(disk).end, missing == 0 ? segment_name(0) : "ledger/");
  }
}

TEST(DamagedLog, IsOneThatIsShorterThanACheckpointSays) {
  MemoryDisk disk;
  auto log = write_log(disk, {5, {}, {}});
  const auto position = log.position();
  auto& file = disk.file(segment_name(0));

  file.resize(file.size() - 1);
  expect_damaged(read_back(disk, position).end, segment_name(0));
  file.resize(kSegmentHeaderBytes - 1);
  expect_damaged(read_back(disk, position).end, segment_name(0));
  file.clear();
  expect_damaged(read_back(disk, position).end, segment_name(0));
}

TEST(DamagedLog, IsOneWithAnotherLogsRecordsOrSegments) {
  MemoryDisk disk, other;
  write_log(disk, {6, {3}, {4}});
  {
    auto log = LedgerLog::create(other, example_job()).value();
    for (std::uint64_t i = 0; i < 6; ++i) {
      if (i == 3) {
        ASSERT_TRUE(log.begin_segment());
      }
      ASSERT_TRUE(append(log, example_record(i + 10)));
    }
  }
  MemoryDisk mixed(disk);
  mixed.file(segment_name(3)) = other.file(segment_name(3));
  expect_damaged(read_back(mixed).end, segment_name(3), "follows another record");

  MemoryDisk renamed(disk);
  renamed.file(segment_name(3)) = disk.file(segment_name(0));
  expect_damaged(read_back(renamed).end, segment_name(3), "the file is segment 0");
  EXPECT_EQ(take_bulks_out(renamed, example_job(), 3).error().code, Errc::kLogDamaged);
}

TEST(DamagedLog, IsOneWithARecordTwice) {
  MemoryDisk disk;
  write_log(disk, {4, {}, {0, 1, 2}});
  const auto positions = positions_behind(disk);
  auto& file = disk.file(segment_name(0));
  const std::vector record(file.begin() + static_cast<long>(positions[0].offset_bytes),
                           file.begin() + static_cast<long>(positions[1].offset_bytes));
  file.insert(file.begin() + static_cast<long>(positions[1].offset_bytes), record.begin(),
              record.end());

  const auto back = read_back(disk);

  EXPECT_EQ(back.records, example_records(2));
  expect_damaged(back.end, segment_name(0), "record 1 in its place");
}

TEST(PrunedLog, IsStillReadFromPositionsToldBefore) {
  MemoryDisk disk;
  std::vector<LogPosition> told;
  {
    auto log = LedgerLog::create(disk, example_job()).value();
    for (std::uint64_t i = 0; i < 9; ++i) {
      if (i == 6) {
        ASSERT_TRUE(log.begin_segment());
      }
      told.push_back(log.position());
      ASSERT_TRUE(append(log, example_record(i)));
    }
  }
  ASSERT_GT(take_bulks_out(disk, example_job(), 0).value(), 0u);
  const auto all = read_back(disk).records;
  ASSERT_EQ(all.size(), 9u);

  for (const auto& from : told) {
    const auto back = read_back(disk, from);
    ASSERT_TRUE(back.end) << from.sequence << describe(back.end.error());
    const std::vector expected(all.begin() + static_cast<long>(from.sequence), all.end());
    EXPECT_EQ(back.records, expected);
  }
}

TEST(TakeBulksOut, LeavesADamagedSegmentAlone) {
  MemoryDisk disk;
  write_log(disk, {6, {3}, {}});
  auto& file = disk.file(segment_name(0));
  file[kSegmentHeaderBytes + 20] ^= std::byte{1};
  const auto before = file;

  const auto saved = take_bulks_out(disk, example_job(), 0);

  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().code, Errc::kLogDamaged);
  EXPECT_THAT(saved.error().detail,
              HasSubstr(fmt::format("000000000000.log at byte {}", kSegmentHeaderBytes)));
  EXPECT_EQ(disk.file(segment_name(0)), before);
  EXPECT_EQ(take_bulks_out(disk, example_job(), 77).error().code, Errc::kRunMissing);
  EXPECT_EQ(take_bulks_out(disk, sha256("other"), 3).error().code, Errc::kOtherJob);
}

}  // namespace
}  // namespace wide::store
