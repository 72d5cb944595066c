// What a user sees when something is wrong: a code, a place, a way out; and nothing lost.

#include <signal.h>

#include "jobs.h"
#include "runs.h"

namespace wide::tests {
namespace {

struct Outcome {
  int code;
  std::string said;
};

Outcome say(std::vector<std::string> argv, Seconds patience = Seconds(20)) {
  Process process(std::move(argv));
  const int code = process.wait(patience);
  return {code, process.out() + process.err()};
}

testing::AssertionResult says(const Outcome& outcome, int code,
                              const std::vector<std::string>& words) {
  if (outcome.code != code) {
    return testing::AssertionFailure() << "exit " << outcome.code << ": " << outcome.said;
  }
  for (const auto& word : words) {
    if (outcome.said.find(word) == std::string::npos) {
      return testing::AssertionFailure() << "no '" << word << "' in: " << outcome.said;
    }
  }
  return testing::AssertionSuccess();
}

std::string with(std::string job, const std::string& from, const std::string& to) {
  return job.replace(job.find(from), from.size(), to);
}

TEST(WideAlone, ShowsExamplesFirst) {
  const Outcome outcome = say({"wide"});
  EXPECT_TRUE(says(outcome, 0, {"wide demo", "wide join"}));
}

TEST(WideTypo, SuggestsTheNearestWord) {
  EXPECT_TRUE(says(say({"wide", "trian", "x"}), 2, {"train"}));
}

TEST(WideHelp, ExplainsACode) { EXPECT_TRUE(says(say({"wide", "help", "W103"}), 0, {"W103"})); }

struct BadJob {
  const char* name;
  const char* from;
  const char* to;
  const char* code;
  const char* word;
  int exit_code = 2;

  friend void PrintTo(const BadJob& bad, std::ostream* out) { *out << bad.name; }
};

class BadJobFile : public testing::TestWithParam<BadJob> {};

TEST_P(BadJobFile, IsRefusedWithCodeAndPlace) {
  const Folder folder;
  const auto& bad = GetParam();
  const std::string job = folder.write("job.toml", with(mlp_job(), bad.from, bad.to));

  const Outcome outcome = say({"wide", "train", job, "--out", folder.file("run")});

  EXPECT_TRUE(says(outcome, bad.exit_code, {bad.code, bad.word}));
}

INSTANTIATE_TEST_SUITE_P(
    Jobs, BadJobFile,
    testing::Values(
        BadJob{"UnknownKey", "batch = 13", "btach = 13", "W103", "did you mean 'batch'"},
        BadJob{"UnknownKeyLine", "batch = 13", "btach = 13", "W103", "job.toml:15"},
        BadJob{"WrongType", "batch = 13", "batch = \"many\"", "W104", "batch"},
        BadJob{"NaNRate", "clip_norm = 1.0", "lr = nan", "W105", "lr"},
        BadJob{"ZeroUnits", "units_per_step = 7", "units_per_step = 0", "W105", "units_per_step"},
        BadJob{"Syntax", "[model]", "[model", "W102", "job.toml"},
        BadJob{"Misfit", "[784, 24, 10]", "[700, 24, 10]", "W106", "784"},
        BadJob{"BatchOverSamples", "batch = 13", "batch = 100000", "W204", "60000", 7},
        BadJob{"NotYet", "[train]", "[strategy]\nkind = \"local\"\n[train]", "W107", "local"}),
    [](const auto& job) { return job.param.name; });

TEST(SampleFiles, MissingOnesAreNamed) {
  const Folder folder;
  const std::string job = folder.write(
      "job.toml", with(mlp_job(), "kind = \"fashion-mnist\"",
                       "kind = \"fashion-mnist\"\npath = \"" + folder.path() + "/none\""));
  EXPECT_TRUE(says(say({"wide", "train", job, "--out", folder.file("run")}), 7, {"W201", "none"}));
}

TEST(SampleFiles, TruncatedOnesAreNamed) {
  const Folder folder;
  const std::string copy = "cp /usr/share/datasets/fashion-mnist/* " + folder.path() +
                           " && truncate -s 100000 " + folder.path() +
                           "/train-images-idx3-ubyte.gz";
  ASSERT_EQ(std::system(copy.c_str()), 0);
  const std::string job =
      folder.write("job.toml", with(mlp_job(), "kind = \"fashion-mnist\"",
                                    "kind = \"fashion-mnist\"\npath = \"" + folder.path() + "\""));

  EXPECT_TRUE(
      says(say({"wide", "train", job, "--out", folder.file("run")}), 7, {"W202", "train-images"}));
}

TEST(JoinNothing, FailsWithinFiveSeconds) {
  const auto start = std::chrono::steady_clock::now();

  const Outcome outcome = say({"wide", "join", "wide://127.0.0.1:1"});

  EXPECT_TRUE(says(outcome, 3, {"W301", "127.0.0.1:1"}));
  EXPECT_LT(Seconds(std::chrono::steady_clock::now() - start).count(), 5.0);
}

TEST(OpenListening, DemandsInsecure) {
  const Folder folder;
  const std::string job = folder.write("job.toml", stub_job());

  const Outcome outcome =
      say({"wide", "pool", job, "--listen", "0.0.0.0:0", "--out", folder.file("run")});

  EXPECT_TRUE(says(outcome, 4, {"W401", "--insecure"}));
}

TEST(PortInUse, IsSaid) {
  const Folder folder;
  const std::string job = folder.write("job.toml", stub_job());
  PoolProcess pool(folder, job);

  const Outcome outcome =
      say({"wide", "pool", job, "--listen", pool.address(), "--out", folder.file("other")});

  EXPECT_TRUE(says(outcome, 7, {"W302"}));
  pool.process().signal(SIGINT);
  pool.process().wait(Seconds(10));
}

TEST(RunFolder, IsNeverOverwritten) {
  const Folder folder;
  const std::string job = folder.write("job.toml", stub_job());
  folder.write("job2.toml", "x");
  std::system(("mkdir " + folder.file("run") + " && touch " + folder.file("run/job.toml")).c_str());

  const Outcome outcome =
      say({"wide", "pool", job, "--listen", "127.0.0.1:0", "--out", folder.file("run")});

  EXPECT_TRUE(says(outcome, 1, {"W801", "already holds a run"}));
}

TEST(Export, SaysWhatIsMissing) {
  const Folder folder;
  EXPECT_TRUE(says(say({"wide", "export", folder.path(), "--out", folder.file("x")}), 1, {"W802"}));
}

}  // namespace
}  // namespace wide::tests
