// Samples that travel, with real processes: the same weights whether a node has the files, fetched
// them, had them in its cache, or gets them with every lease.

#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>

#include "jobs.h"
#include "netns.h"
#include "runs.h"

namespace wide::tests {
namespace {

constexpr std::size_t kTextBytes = 3u << 20;

std::string reference_hash(const std::string& job) {
  Process process({"wide-reference", job});
  EXPECT_EQ(process.wait(), 0) << process.err();
  return process.out().substr(0, 64);
}

Process::Environment with_cache(const std::string& folder) { return {{"XDG_CACHE_HOME", folder}}; }

std::size_t chunk_count(const std::string& cache) {
  std::size_t count = 0;
  const std::filesystem::path chunks = std::filesystem::path(cache) / "wide/chunks";
  if (!std::filesystem::exists(chunks)) return 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(chunks)) {
    count += entry.is_regular_file() ? 1 : 0;
  }
  return count;
}

class ShippedGpt : public testing::Test {
 protected:
  std::string job(const std::string& more = "") const {
    return folder_.write("job.toml", gpt_job(text_, 5, 3, 12, more));
  }
  Json train_with(const std::string& job, const std::vector<std::string>& flags,
                  const std::string& cache, int nodes = 1) const {
    PoolProcess pool(folder_, job);
    std::vector<std::unique_ptr<Process>> all;
    for (int i = 0; i < nodes; ++i) {
      std::vector<std::string> argv = {"wide", "join", pool.url(), "--slots", "1"};
      argv.insert(argv.end(), flags.begin(), flags.end());
      all.push_back(std::make_unique<Process>(argv, with_cache(cache)));
    }
    return pool.end();
  }

  Folder folder_;
  std::string text_ = folder_.write("text.txt", made_up_text(kTextBytes));
};

TEST_F(ShippedGpt, EqualsThePlainLoopLocalShippedAndCached) {
  const std::string job = this->job();
  const std::string expected = reference_hash(job);
  const std::string cache = folder_.file("cache");

  const Json local = train_with(job, {"--data", folder_.path()}, folder_.file("other-cache"));
  const Json shipped = train_with(job, {}, cache);
  const Json cached = train_with(job, {}, cache, 2);

  EXPECT_EQ(hash_of(local), expected);
  EXPECT_EQ(local["shipped_bytes"], 0);
  EXPECT_EQ(hash_of(shipped), expected);
  EXPECT_GT(shipped["shipped_bytes"], kTextBytes);
  EXPECT_EQ(hash_of(cached), expected);
  EXPECT_LT(cached["shipped_bytes"], 4096) << "two manifests";
  EXPECT_GE(chunk_count(cache), 3u);
}

TEST_F(ShippedGpt, EqualsThePlainLoopWhenSamplesComeWithTheLease) {
  const std::string expected = reference_hash(job());
  const std::string cache = folder_.file("cache");

  const Json always = train_with(job("ship = \"always\"\n"), {}, cache, 2);

  EXPECT_EQ(hash_of(always), expected);
  EXPECT_EQ(chunk_count(cache), 0u);
}

TEST_F(ShippedGpt, FetchesAgainWhatWasDamagedInTheCache) {
  const std::string job = this->job();
  const std::string cache = folder_.file("cache");
  const std::string expected = hash_of(train_with(job, {}, cache));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(cache + "/wide/chunks")) {
    if (!entry.is_regular_file()) continue;
    std::fstream(entry.path(), std::ios::in | std::ios::out | std::ios::binary).seekp(99).put('#');
  }

  const Json again = train_with(job, {}, cache);

  EXPECT_EQ(hash_of(again), expected);
  EXPECT_GT(again["shipped_bytes"], kTextBytes);
}

// A chunk is a mebibyte: on a disk of one and a half the second does not fit.
TEST_F(ShippedGpt, SurvivesAFullCacheDiskAndSaysSo) {
  if (!may_make_namespaces()) GTEST_SKIP() << "mounting a small disk needs root";
  const std::string job = this->job();
  const std::string expected = reference_hash(job);
  const std::string cache = folder_.file("cache");
  std::filesystem::create_directory(cache);
  PoolProcess pool(folder_, job);
  Process node({"/usr/bin/unshare", "--mount", "/bin/sh", "-c",
                "mount -t tmpfs -o size=1536k none " + cache + " && exec " + program("wide") +
                    " join " + pool.url() + " --slots 1"},
               with_cache(cache));

  EXPECT_EQ(hash_of(pool.end()), expected);

  EXPECT_EQ(node.wait(), 0) << node.err();
  EXPECT_NE(node.err().find("No space left"), std::string::npos) << node.err();
}

// Kills land in the middle of fetching and of computing.
TEST_F(ShippedGpt, SurvivesKillsWhileItFetches) {
  const std::string job = folder_.write("job.toml", gpt_job(text_, 8, 3, 40));
  const std::string expected = reference_hash(job);
  PoolProcess pool(folder_, job);
  const auto join = [&](int number) {
    return std::make_unique<Process>(
        std::vector<std::string>{"wide", "join", pool.url(), "--slots", "1"},
        with_cache(folder_.file("cache" + std::to_string(number))));
  };
  auto survivor = join(0);
  for (int i = 1; i <= 4; ++i) {
    auto victim = join(i);
    const bool fetching = pool.process().wait_for("samples asked for", static_cast<std::size_t>(i));
    EXPECT_TRUE(fetching || !pool.process().running());
    victim->signal(SIGKILL);
  }

  EXPECT_EQ(hash_of(pool.end()), expected);
}

// Nothing of the samples is on this "machine": its own network, and the usual place is empty.
TEST(EmptyMachine, TrainsFashionMnistFromThePoolAlone) {
  if (!may_make_namespaces()) GTEST_SKIP() << "network namespaces need root";
  const Folder folder;
  const Namespace machine;
  const std::string job = folder.write("job.toml", mlp_job(7, 13, 30));
  const std::string expected = reference_hash(job);
  const std::string home = folder.file("home");
  std::filesystem::create_directory(home);
  const auto train_there = [&] {
    PoolProcess pool(folder, job, {"--insecure"}, machine.outside() + ":0");
    Process node(
        machine.inside({"/usr/bin/unshare", "--mount", "/bin/sh", "-c",
                        "mount -t tmpfs none /usr/share/datasets && cd " + home + " && exec " +
                            program("wide") + " join " + pool.url() + " --slots 2"}),
        {{"HOME", home}, {"XDG_CACHE_HOME", ""}});
    const Json summary = pool.end();
    EXPECT_EQ(node.wait(), 0) << node.err();
    return summary;
  };

  const Json first = train_there();
  const Json second = train_there();

  EXPECT_EQ(hash_of(first), expected);
  EXPECT_GT(first["shipped_bytes"], 40u << 20);
  EXPECT_EQ(hash_of(second), expected);
  EXPECT_LT(second["shipped_bytes"], 8192) << "the manifest alone";
}

}  // namespace
}  // namespace wide::tests
