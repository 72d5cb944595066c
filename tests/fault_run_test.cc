// Whole runs on machines that fail them: processes that stand still, links that are cut without a
// word, disks that are full or cannot sync, memory and descriptors that run out. No run ends with
// other weights than a calm one.

#include <arpa/inet.h>

#include <chrono>
#include <filesystem>
#include <functional>

#include "wide/base/failpoint.h"

#include "fleet.h"
#include "netns.h"

namespace wide::tests {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kUnfit = 7;  // exit code: this machine is not fit for it
const Words kOften = {"--checkpoint-seconds", "0.05"};

Seconds since(Clock::time_point start) { return Clock::now() - start; }

std::size_t count_of(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

// How long after `fault` the pool knows that a node is gone. Its leases are free from then on,
// where they had not been copied to others before.
Seconds loss_span(Process& pool, const std::string& node, const std::function<void()>& fault) {
  const auto start = Clock::now();
  fault();
  EXPECT_TRUE(pool.wait_for("node lost name=" + node + " ", 1, Seconds(20))) << pool.err();
  return since(start);
}

// --- Standing still
// -------------------------------------------------------------------------------

TEST(FaultRun, AStoppedNodeComesBackTooLateAndChangesNothing) {
  const Folder folder;
  const std::string job = folder.write("job.toml", stub_job(16, 800));
  const std::string expected = calm_hash(folder, job);
  LongRun run(job, folder.file("run"));
  run.open_and_listen();
  Nodes nodes(run.address(), {"--delay-us", "2000"});
  for (int i = 0; i < 3; ++i) nodes.add();
  ASSERT_TRUE(run.pool().wait_for("node joined", 3));

  nodes[0].signal(SIGSTOP);
  ASSERT_TRUE(run.pool().wait_for("lease copied from=n1 ")) << run.pool().err();
  ASSERT_EQ(run.pool().wait(Seconds(1)), -1) << "the run was too short";
  nodes[0].signal(SIGCONT);
  ASSERT_TRUE(run.pool().wait_for("late result dropped")) << run.pool().err();

  EXPECT_EQ(hash_of(end_quickly(run, nodes)), expected);
}

TEST(FaultRun, AStoppedPoolGoesOnWithTheSameNodes) {
  const Folder folder;
  const std::string job = folder.write("job.toml", stub_job(16, 800));
  const std::string expected = calm_hash(folder, job);
  LongRun run(job, folder.file("run"));
  run.open_and_listen();
  Nodes nodes(run.address(), {"--delay-us", "2000"});
  for (int i = 0; i < 3; ++i) nodes.add();
  ASSERT_TRUE(run.pool().wait_for("node joined", 3));

  run.pool().signal(SIGSTOP);
  ASSERT_EQ(run.pool().wait(Seconds(3)), -1);
  run.pool().signal(SIGCONT);
  const Json status = run_to_end({"wide", "status", "wide://" + run.address(), "--json"});

  EXPECT_EQ(status["nodes"], 3) << status;
  EXPECT_EQ(count_of(run.pool().err(), "node lost"), 0u) << run.pool().err();
  EXPECT_EQ(hash_of(end_quickly(run, nodes)), expected);
}

// --- Links
// ----------------------------------------------------------------------------------------

TEST(FaultRun, LeasesOfADeadNodeAreFreeWithinATenthOfASecond) {
  const Folder folder;
  PoolProcess pool(folder, folder.write("job.toml", stub_job(16, 1000000)));
  Nodes nodes(pool.address(), {"--delay-us", "3000"});
  nodes.add();
  std::vector<Seconds> spans;

  for (int i = 0; i < 9; ++i) {
    Process& victim = nodes.add();
    const std::string name = "n" + std::to_string(i + 2);
    ASSERT_TRUE(pool.process().wait_for("node joined name=" + name));
    ASSERT_EQ(victim.wait(Seconds(0.1)), -1);  // by then it holds leases
    spans.push_back(loss_span(pool.process(), name, [&] { victim.signal(SIGKILL); }));
  }

  std::ranges::sort(spans);
  RecordProperty("median_milliseconds", static_cast<int>(spans[4].count() * 1000));
  EXPECT_LT(spans[4].count(), 0.1);
  EXPECT_LT(spans[8].count(), 1.0);
}

TEST(FaultRun, LeasesBehindASilentlyCutLinkAreFreeWithinFiveSeconds) {
  if (!may_make_namespaces()) GTEST_SKIP() << "needs root";
  const Folder folder;
  const std::string job = folder.write("job.toml", stub_job(16, 800));
  const std::string expected = calm_hash(folder, job);
  const Namespace far;
  LongRun run(job, folder.file("run"), {"--insecure"}, far.outside());
  run.open_and_listen();
  Nodes near(run.address(), {"--delay-us", "2000"});
  near.add();
  Process cut_off(far.inside({program("wide-stub-node"), "--connect", run.address(), "--name",
                              "far", "--delay-us", "2000"}));
  ASSERT_TRUE(run.pool().wait_for("node joined name=far"));
  ASSERT_EQ(run.pool().wait(Seconds(0.1)), -1);

  const Seconds span = loss_span(run.pool(), "far", [&] { far.cut(); });
  far.mend();

  RecordProperty("milliseconds", static_cast<int>(span.count() * 1000));
  EXPECT_LT(span.count(), 5.0);
  EXPECT_TRUE(run.pool().wait_for("node joined name=far", 2)) << "it did not come back";
  cut_off.signal(SIGKILL);
  EXPECT_EQ(hash_of(end_quickly(run, near)), expected);
}

TEST(FaultRun, AFlappingLinkChangesNothing) {
  if (!may_make_namespaces()) GTEST_SKIP() << "needs root";
  const Folder folder;
  const std::string job = folder.write("job.toml", stub_job(16, 600));
  const std::string expected = calm_hash(folder, job);
  const Namespace far;
  LongRun run(job, folder.file("run"), {"--insecure"}, far.outside());
  run.open_and_listen();
  Nodes near(run.address(), {"--delay-us", "2000"});
  near.add();
  Process flapping(far.inside({program("wide-stub-node"), "--connect", run.address(), "--name",
                               "far", "--delay-us", "2000"}));
  ASSERT_TRUE(run.pool().wait_for("node joined name=far"));

  for (int i = 0; i < 5; ++i) {
    far.cut();
    ASSERT_EQ(run.pool().wait(Seconds(0.7)), -1) << "the run was too short";
    far.mend();
    ASSERT_EQ(run.pool().wait(Seconds(0.3)), -1) << "the run was too short";
  }
  flapping.signal(SIGKILL);

  EXPECT_EQ(hash_of(end_quickly(run, near)), expected);
}

// --- Disks
// ----------------------------------------------------------------------------------------

// A pool whose run folder lies on a disk of its own, of which `spare` is taken by a file that can
// be removed. The disk is gone with the processes that see it.
class SmallDisk final {
 public:
  SmallDisk(const Folder& folder, const std::string& size, const std::string& spare)
      : path_(folder.file("disk")), size_(size), spare_(spare) {
    std::filesystem::create_directory(path_);
  }

  std::string file(const std::string& name) const { return path_ + "/" + name; }
  Words before_a_command() const {
    return {"/usr/bin/unshare", "--mount", "/bin/sh", "-c",
            "mount -t tmpfs -o size=" + size_ + " none " + path_ + " && head -c " + spare_ +
                " /dev/zero >" + path_ + "/spare && exec \"$0\" \"$@\""};
  }
  // Seen from outside, through a process that is inside.
  void make_room(pid_t inside) const {
    EXPECT_TRUE(
        std::filesystem::remove("/proc/" + std::to_string(inside) + "/root" + path_ + "/spare"));
  }

 private:
  std::string path_;
  std::string size_;
  std::string spare_;
};

TEST(FaultRun, AFullDiskPausesTheRunUntilThereIsRoom) {
  if (!may_make_namespaces()) GTEST_SKIP() << "needs root";
  const Folder folder;
  const std::string job = folder.write("job.toml", stub_job(16, 1500));
  const std::string expected = calm_hash(folder, job);
  const SmallDisk disk(folder, "16m", "15m");
  LongRun run(job, disk.file("run"));
  run.start_with(disk.before_a_command());
  run.open_and_listen();
  Nodes nodes(run.address());
  for (int i = 0; i < 2; ++i) nodes.add();

  ASSERT_TRUE(run.pool().wait_for("W804", 1, Seconds(20))) << run.pool().err();
  EXPECT_EQ(run.pool().wait(Seconds(1)), -1) << "it should wait";
  EXPECT_EQ(count_of(run.pool().err(), "node lost"), 0u) << run.pool().err();
  disk.make_room(run.pool().pid());

  EXPECT_EQ(hash_of(run.end()), expected);
  EXPECT_EQ(count_of(run.pool().err(), "disk has room again"), 1u) << run.pool().err();
  for (std::size_t i = 0; i < nodes.size(); ++i) EXPECT_EQ(nodes[i].wait(Seconds(10)), 0);
}

TEST(FaultRun, ASyncThatFailsEndsThePoolAndLosesNothing) {
  if (!kHasFailpoints) GTEST_SKIP() << "built without failpoints";
  const Folder folder;
  const std::string job = folder.write("job.toml", stub_job(16, 1500));
  const std::string expected = calm_hash(folder, job);
  LongRun run(job, folder.file("run"));
  Nodes nodes(run.address(), {"--delay-us", "500"});
  run.open_and_listen();
  run.kill();

  for (const int nth : {1, 2, 3, 7, 20}) {
    SCOPED_TRACE(nth);
    run.open({{"WIDE_FAILPOINT", "disk.sync:" + std::to_string(nth) + ":io"}});
    if (run.listens()) nodes.fill_up(2);
    EXPECT_EQ(run.pool().wait(Seconds(20)), 1) << run.pool().err();
    EXPECT_NE(run.pool().err().find("W805"), std::string::npos) << run.pool().err();
  }
  run.open_and_listen();

  EXPECT_EQ(hash_of(end_quickly(run, nodes)), expected);
  EXPECT_EQ(run.verify().value("ok", false), true);
}

// --- Memory and descriptors
// -----------------------------------------------------------------------

std::uint64_t allocations_of(const std::string& err) {
  const std::string words = "allocations counted number=";
  const auto at = err.find(words);
  return at == std::string::npos ? 0 : std::stoull(err.substr(at + words.size()));
}

// The sanitizers bring an allocator of their own, which cannot be told to fail.
#ifdef WIDE_SANITIZED
constexpr bool kOwnAllocator = true;
#else
constexpr bool kOwnAllocator = false;
#endif

Process::Environment failing_alloc(std::uint64_t nth, const std::string& least) {
  return {{"LD_PRELOAD", program("libwide_failing_alloc.so")},
          {"WIDE_FAIL_ALLOC", std::to_string(nth) + ":" + least}};
}

// A whole run, with nodes from the moment that it listens; its exit code.
int run_through(LongRun& run, const Process::Environment& environment) {
  run.open(environment);
  Nodes nodes(run.address());
  if (run.listens()) nodes.fill_up(1);
  return run.pool().wait(Seconds(20));
}

// One that ran out of memory goes on; one that did so before it had begun is begun anew.
std::string hash_after(LongRun& run, const std::string& job) {
  if (run_through(run, {}) == 0) return hash_of(summary_of(run.pool()));
  LongRun anew(job, run.folder());
  EXPECT_EQ(run_through(anew, {}), 0) << run.pool().err() << anew.pool().err();
  return hash_of(summary_of(anew.pool()));
}

// Of the allocations of a calm run, `count` fail, each in a run of its own. How many runs ended.
int fail_allocations(const Folder& folder, const std::string& least, int count, bool by_signal) {
  const std::string job = folder.write("job.toml", stub_job(16, 40));
  LongRun calm(job, folder.file("calm" + least), kOften);
  EXPECT_EQ(run_through(calm, failing_alloc(0, least)), 0);
  const std::string expected = hash_of(summary_of(calm.pool()));
  const std::uint64_t total = allocations_of(calm.pool().err());
  EXPECT_GT(total, static_cast<std::uint64_t>(count));
  int ended = 0;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t nth =
        1 + total * static_cast<std::uint64_t>(i) / static_cast<std::uint64_t>(count);
    SCOPED_TRACE(std::to_string(nth) + ":" + least);
    LongRun run(job, folder.file("run" + std::to_string(nth) + "-" + least), kOften);
    const int code = run_through(run, failing_alloc(nth, least));
    EXPECT_TRUE(code == 0 || code == kUnfit || (by_signal && code > 128)) << run.pool().err();
    ended += code != 0;
    EXPECT_EQ(code == 0 ? hash_of(summary_of(run.pool())) : hash_after(run, job), expected);
  }
  return ended;
}

// Libraries (for arguments, JSON, hashes) may end the process by a signal where memory is short.
TEST(FaultRun, AnyAllocationThatFailsNeverChangesTheWeights) {
  if (kOwnAllocator) GTEST_SKIP() << "of a build with sanitizers no allocation fails";
  const Folder folder;

  EXPECT_GT(fail_allocations(folder, "1", 12, true), 0);
}

TEST(FaultRun, ALargeAllocationThatFailsDropsAPeerOrEndsInWords) {
  if (kOwnAllocator) GTEST_SKIP() << "of a build with sanitizers no allocation fails";
  const Folder folder;

  EXPECT_GT(fail_allocations(folder, "1000", 12, false), 0);
}

// Connections that say nothing.
class SilentCallers final {
 public:
  SilentCallers(const std::string& address, int count) {
    const auto colon = address.find(':');
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(colon + 1))));
    inet_pton(AF_INET, address.substr(0, colon).c_str(), &to.sin_addr);
    for (int i = 0; i < count; ++i) {
      sockets_.push_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      (void)connect(sockets_.back(), reinterpret_cast<sockaddr*>(&to), sizeof to);
    }
  }
  ~SilentCallers() { hang_up(); }
  SilentCallers(const SilentCallers&) = delete;
  SilentCallers& operator=(const SilentCallers&) = delete;

  void hang_up() {
    for (const int socket : sockets_) close(socket);
    sockets_.clear();
  }

 private:
  std::vector<int> sockets_;
};

TEST(FaultRun, APoolOutOfDescriptorsTurnsCallersAwayAndRecovers) {
  const Folder folder;
  const std::string job = folder.write("job.toml", stub_job(16, 600));
  const std::string expected = calm_hash(folder, job);
  LongRun run(job, folder.file("run"));
  run.start_with({"/bin/sh", "-c", "ulimit -n 40; exec \"$0\" \"$@\""});
  run.open_and_listen();
  Nodes nodes(run.address(), {"--delay-us", "1500"});
  nodes.add();
  ASSERT_TRUE(run.pool().wait_for("node joined", 1));

  SilentCallers crowd(run.address(), 100);
  ASSERT_TRUE(run.pool().wait_for("out of file descriptors", 1, Seconds(20))) << run.pool().err();
  crowd.hang_up();
  nodes.add();

  EXPECT_TRUE(run.pool().wait_for("node joined", 2, Seconds(20))) << "nobody was let in again";
  EXPECT_EQ(hash_of(end_quickly(run, nodes)), expected);
}

}  // namespace
}  // namespace wide::tests
