// Runs with libtorch whose pool is killed and resumed: they end with the hash of a plain loop,
// their folders verify, and their steps replay to the bit.

#include <signal.h>

#include <filesystem>
#include <fstream>

#include "jobs.h"
#include "runs.h"

namespace wide::tests {
namespace {

std::string reference_hash(const std::string& job) {
  Process process({"wide-reference", job});
  EXPECT_EQ(process.wait(), 0) << process.err();
  return process.out().substr(0, 64);
}

using Words = std::vector<std::string>;

Words train_command(const std::string& job, const std::string& run, bool resume) {
  Words words = {"wide",
                 "train",
                 job,
                 "--nodes",
                 "2",
                 "--out",
                 run,
                 "--json",
                 "--log",
                 "verbose",
                 "--checkpoint-seconds",
                 "0.2"};
  if (resume) words.push_back("--resume");
  return words;
}

Json replay(const std::string& run, std::uint64_t step) {
  return run_to_end({"wide", "replay", run, "--step", std::to_string(step), "--json"});
}

// The pool, with all its nodes, dies three times; the fourth life brings the run to its end.
std::string killed_thrice(const std::string& job, const std::string& run) {
  for (int life = 0; life < 3; ++life) {
    Process training(train_command(job, run, life > 0));
    EXPECT_TRUE(training.wait_for("node joined", 2)) << training.err();
    EXPECT_TRUE(training.wait_for("checkpoint written")) << training.err();
    training.signal(SIGKILL);
    EXPECT_EQ(training.wait(), 128 + SIGKILL);
  }
  Process last(train_command(job, run, true));
  EXPECT_EQ(last.wait(), 0) << last.err();
  EXPECT_NE(last.err().find("resumed at step"), std::string::npos) << last.err();
  return hash_of(summary_of(last));
}

TEST(ResumedRun, OfAnMlpEqualsThePlainLoopAndReplays) {
  const Folder folder;
  const std::string job = folder.write("job.toml", mlp_job(7, 64, 1500));
  const std::string run = folder.file("run");

  EXPECT_EQ(killed_thrice(job, run), reference_hash(job));

  const Json verdict = run_to_end({"wide", "verify", run, "--json"});
  EXPECT_TRUE(verdict["ok"]) << verdict;
  EXPECT_EQ(verdict["steps"], 1500);
  EXPECT_EQ(verdict["units"], 1500 * 7);
  const Json last = replay(run, 1499);
  EXPECT_TRUE(last["equal"]) << last;
  EXPECT_EQ(last["blocks"].size(), 7u);
  const Json early = replay(run, 9);
  EXPECT_TRUE(early["equal"]) << early;
  EXPECT_GT(early["steps_recomputed"], 0) << "its updates are pruned";
}

TEST(ResumedRun, OfADelayedMlpEqualsThePlainLoopAndReplays) {
  const Folder folder;
  const std::string job =
      folder.write("job.toml", mlp_job(7, 64, 1500) + "[strategy]\ndelay = 2\n");
  const std::string run = folder.file("run");

  EXPECT_EQ(killed_thrice(job, run), reference_hash(job));

  const Json verdict = run_to_end({"wide", "verify", run, "--json"});
  EXPECT_TRUE(verdict["ok"]) << verdict;
  EXPECT_TRUE(replay(run, 1499)["equal"]);
  EXPECT_TRUE(replay(run, 9)["equal"]);
}

TEST(ResumedRun, OfACnnEqualsThePlainLoop) {
  const Folder folder;
  const std::string job = folder.write("job.toml", cnn_job(8, 32, 60));

  EXPECT_EQ(killed_thrice(job, folder.file("run")), reference_hash(job));
}

TEST(RunFolder, OfAnotherJobOrVersionIsRefused) {
  const Folder folder;
  const std::string job = folder.write("job.toml", mlp_job(4, 32, 5));
  const std::string other = folder.write("other.toml", mlp_job(4, 32, 6));
  const std::string run = folder.file("run");
  run_to_end({"wide", "train", job, "--nodes", "1", "--out", run, "--json", "--log", "silent"});

  Process another({"wide", "train", other, "--out", run, "--resume"});
  EXPECT_EQ(another.wait(), 1) << another.err();
  EXPECT_NE(another.err().find("W811"), std::string::npos) << another.err();
  EXPECT_NE(another.err().find("another job"), std::string::npos) << another.err();

  const std::string genesis = run + "/genesis.json";
  std::ifstream in(genesis);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  text.replace(text.find("\"format\": 1"), 11, "\"format\": 9");
  std::ofstream(genesis) << text;
  for (const Words& words :
       {Words{"wide", "verify", run}, Words{"wide", "replay", run, "--step", "1"}}) {
    Process process(words);
    EXPECT_EQ(process.wait(), 5) << process.err();
    EXPECT_NE(process.err().find("W502"), std::string::npos) << process.err();
  }
}

}  // namespace
}  // namespace wide::tests
