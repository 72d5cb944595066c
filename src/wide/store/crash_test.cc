// Processes that are killed at every failpoint of the store, and what is left behind by them.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "wide/base/failpoint.h"
#include "wide/store/example_checkpoint.h"
#include "wide/store/example_log.h"
#include "wide/store/real_disk.h"
#include "wide/store/scratch_folder.h"

namespace wide::store {
namespace {

#ifdef WIDE_FAILPOINTS

constexpr std::uint64_t kRecordCount = 12;
constexpr int kHitsMax = 100;

// A number that outlives whoever counts.
class SharedCount final {
 public:
  SharedCount()
      : count_(static_cast<std::uint64_t*>(::mmap(nullptr, sizeof(std::uint64_t),
                                                  PROT_READ | PROT_WRITE,
                                                  MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    WIDE_CHECK(count_ != MAP_FAILED);
  }
  ~SharedCount() { ::munmap(count_, sizeof(std::uint64_t)); }
  SharedCount(const SharedCount&) = delete;
  SharedCount& operator=(const SharedCount&) = delete;

  std::uint64_t value() const { return *count_; }
  void set(std::uint64_t value) { *const_cast<volatile std::uint64_t*>(count_) = value; }

 private:
  std::uint64_t* count_;
};

// In a process of its own. True: it came to its end; false: the failpoint ended it.
bool comes_to_its_end(const std::string& failpoint_spec, const std::function<void()>& work) {
  const auto child = ::fork();
  if (child == 0) {
    if (!arm_failpoints(failpoint_spec)) ::_exit(2);
    work();
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  const bool ended = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  EXPECT_TRUE(ended || killed) << failpoint_spec << ": status " << status;
  return ended;
}

// Opens the log, or makes it, and brings it to kRecordCount records in segments of three, the
// older ones without bulks.
void work_on_log(RealDisk& disk, SharedCount& acknowledged) {
  auto back = read_back(disk);
  const bool is_new = !back.end;
  WIDE_CHECK(!is_new || back.end.error().code == Errc::kRunMissing);
  auto log = is_new ? LedgerLog::create(disk, example_job()).value()
                    : LedgerLog::open(disk, example_job(), *back.end).value();
  while (log.position().sequence < kRecordCount) {
    const auto sequence = log.position().sequence;
    if (sequence % 3 == 0) {
      WIDE_CHECK(log.begin_segment());
      const auto segments = log_segments(disk).value();
      for (const auto segment : segments) {
        if (segment < log.position().segment) {
          WIDE_CHECK(take_bulks_out(disk, example_job(), segment));
        }
      }
    }
    WIDE_CHECK(append(log, example_record(sequence)));
    acknowledged.set(sequence + 1);
    if (sequence % 2 == 1) WIDE_CHECK(log.sync());
  }
}

void expect_log(RealDisk& disk, std::uint64_t count_least, const std::string& spec) {
  const auto back = read_back(disk);
  if (!back.end) {
    EXPECT_EQ(back.end.error().code, Errc::kRunMissing) << spec << describe(back.end.error());
    EXPECT_EQ(count_least, 0u) << spec;
    return;
  }
  EXPECT_GE(back.records.size(), count_least) << spec;
  for (std::uint64_t i = 0; i < back.records.size(); ++i) {
    auto expected = example_record(i);
    expected.taken_out = back.records[i].taken_out;
    if (expected.taken_out) expected.bulk.clear();
    EXPECT_EQ(back.records[i], expected) << spec;
  }
}

// Half a record, as a process leaves it that was killed in the middle of a write.
void leave_torn_tail(RealDisk& disk) {
  write_log(disk, {2, {}, {}});
  const std::string half = "WREC and then nothing";
  const std::array pieces = {bytes_of(half)};
  WIDE_CHECK((*disk.open(segment_name(0), Open::kAppend))->append(pieces));
}

// How often work was ended at this failpoint.
int kill_log_everywhere(std::string_view name, bool torn) {
  for (int hit = 1; hit <= kHitsMax; ++hit) {
    const ScratchFolder scratch;
    RealDisk disk(scratch.path());
    SharedCount acknowledged;
    const auto spec = fmt::format("{}:{}", name, hit);
    if (torn) leave_torn_tail(disk);
    const auto work = [&] { work_on_log(disk, acknowledged); };

    const bool ended = comes_to_its_end(spec, work);

    expect_log(disk, acknowledged.value(), spec);
    if (ended) return hit - 1;
    EXPECT_TRUE(comes_to_its_end("", work)) << spec;
    expect_log(disk, kRecordCount, spec);
  }
  return kHitsMax;
}

TEST(KilledLog, LosesNoRecordThatWasAppended) {
  int kill_count = 0;
  for (const auto name : kFailpoints) {
    if (!name.starts_with("ledger.") && !name.starts_with("prune.")) continue;
    const int of_torn = kill_log_everywhere(name, true);
    EXPECT_GT(of_torn, 0) << name;
    kill_count += of_torn + kill_log_everywhere(name, false);
  }
  EXPECT_GT(kill_count, 50);
  RecordProperty("kills", kill_count);
}

// Each process comes a little further than the one before.
TEST(KilledLog, ComesToItsEndHoweverOftenItIsKilled) {
  for (const std::string spec :
       {"ledger.append.half:2", "ledger.append.after:1", "ledger.sync.before:3"}) {
    const ScratchFolder scratch;
    RealDisk disk(scratch.path());
    SharedCount acknowledged;
    int round_count = 0;
    while (!comes_to_its_end(spec, [&] { work_on_log(disk, acknowledged); })) {
      ASSERT_LT(++round_count, kHitsMax) << spec;
      expect_log(disk, acknowledged.value(), spec);
    }
    expect_log(disk, kRecordCount, spec);
    EXPECT_GT(round_count, 3) << spec;
  }
}

void work_on_checkpoints(RealDisk& disk, SharedCount& acknowledged) {
  BufferPool buffers;
  WIDE_CHECK(remove_rubbish(disk));
  for (Step step = acknowledged.value() + 10; step <= 50; step += 10) {
    WIDE_CHECK(write_all(disk, example_checkpoint(buffers, step)));
    acknowledged.set(step);
  }
}

void expect_checkpoints(RealDisk& disk, Step newest_least, const std::string& spec) {
  BufferPool buffers;
  const auto entries = list_checkpoints(disk).value();
  for (const auto& entry : entries) EXPECT_TRUE(reads_as_example(disk, entry, buffers)) << spec;
  EXPECT_GE(entries.size(), std::min<std::size_t>(kGenerations, newest_least / 10)) << spec;
  if (newest_least > 0) {
    EXPECT_GE(entries.front().step, newest_least) << spec;
  }
}

TEST(KilledCheckpoint, LeavesEveryGenerationWhole) {
  int kill_count = 0;
  for (const auto name : kFailpoints) {
    if (!name.starts_with("checkpoint.")) continue;
    bool ended = false;
    int hit = 0;
    while (!ended && ++hit <= kHitsMax) {
      const ScratchFolder scratch;
      RealDisk disk(scratch.path());
      SharedCount acknowledged;
      const auto spec = fmt::format("{}:{}", name, hit);
      const auto work = [&] { work_on_checkpoints(disk, acknowledged); };

      ended = comes_to_its_end(spec, work);

      expect_checkpoints(disk, acknowledged.value(), spec);
      EXPECT_TRUE(comes_to_its_end("", work)) << spec;
      expect_checkpoints(disk, 50, spec);
      EXPECT_EQ(disk.list("checkpoints")->size(), 3 * kGenerations) << spec;
    }
    EXPECT_GT(hit, 1) << name;
    kill_count += hit - 1;
  }
  EXPECT_GT(kill_count, 30);
  RecordProperty("kills", kill_count);
}

#endif

}  // namespace
}  // namespace wide::store
