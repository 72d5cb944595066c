// The promise, with real processes, real TCP and libtorch: the same weights whoever took part.

#include <signal.h>

#include <functional>
#include <random>

#include "jobs.h"
#include "runs.h"

namespace wide::tests {
namespace {

std::string reference_hash(const std::string& job) {
  Process process({"wide-reference", job});
  EXPECT_EQ(process.wait(), 0) << process.err();
  const std::string out = process.out();
  return out.substr(0, out.find_first_of(" \n"));
}

Json train(const Folder& folder, const std::string& job, std::vector<std::string> flags) {
  static int runs = 0;
  std::vector<std::string> argv = {
      "wide",  "train",  job,     "--json",
      "--log", "silent", "--out", folder.file("train" + std::to_string(++runs))};
  argv.insert(argv.end(), flags.begin(), flags.end());
  return run_to_end(argv);
}

struct Kind {
  const char* name;
  // Writes what the job needs into the folder, and returns the job file.
  std::function<std::string(const Folder&, int units, int batch, int steps)> job;
  int steps;
  int killed_steps;  // long enough for many kills
  std::size_t kills;

  friend void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }
};

std::string write_mlp(const Folder& folder, int units, int batch, int steps) {
  return folder.write("job.toml", mlp_job(units, batch, steps));
}
std::string write_tiny(const Folder& folder, int units, int batch, int steps) {
  return folder.write("job.toml", tiny_job(units, batch, steps));
}
std::string write_cnn(const Folder& folder, int units, int batch, int steps) {
  return folder.write("job.toml", cnn_job(units, batch, steps));
}
std::string write_resnet(const Folder& folder, int units, int batch, int steps) {
  return folder.write("job.toml", resnet_job(units, batch, steps));
}
std::string write_gpt(const Folder& folder, int units, int batch, int steps) {
  const std::string text = folder.write("text.txt", made_up_text(40000));
  return folder.write("job.toml", gpt_job(text, units, batch, steps));
}
// Somebody else's model, with dropout: libtorch's own generator draws, one process per slot.
std::string write_script(const Folder& folder, int units, int batch, int steps) {
  const std::string file = folder.file("mobile.pt");
  Process python({"/usr/bin/python3", std::string(WIDE_SOURCE_FOLDER) + "/scripts/export_models.py",
                  "mobile", file, "--small", "--dropout", "0.2"});
  EXPECT_EQ(python.wait(), 0) << python.err();
  return folder.write("job.toml", script_job(file, units, batch, steps));
}

class ExactRun : public testing::TestWithParam<Kind> {};

TEST_P(ExactRun, EqualsThePlainLoopForAnyNodesSlotsAndLeases) {
  const Folder folder;
  const int steps = GetParam().steps;
  const std::string job = GetParam().job(folder, 7, 13, steps);
  const std::string expected = reference_hash(job);
  ASSERT_EQ(expected.size(), 64u);

  const std::vector<std::vector<std::string>> casts = {
      {"--nodes", "1"},
      {"--nodes", "3"},
      {"--nodes", "10"},
      {"--nodes", "2", "--slots", "4"},
      {"--nodes", "2", "--lease-blocks", "1"},
      {"--nodes", "2", "--lease-blocks", "2"},
      {"--nodes", "3", "--lease-blocks", "4"},
  };
  for (const auto& cast : casts) {
    const Json summary = train(folder, job, cast);
    EXPECT_EQ(hash_of(summary), expected) << testing::PrintToString(cast);
    EXPECT_EQ(summary["steps"], steps);
    EXPECT_EQ(summary["units"], steps * 7);
    EXPECT_TRUE(summary["reproducible"]);
  }
}

TEST_P(ExactRun, EqualsThePlainLoopForAFullTreeToo) {
  const Folder folder;
  const std::string job = GetParam().job(folder, 8, 16, GetParam().steps / 3);

  EXPECT_EQ(hash_of(train(folder, job, {"--nodes", "3"})), reference_hash(job));
}

// Kills land wherever they land: computing, sending, joining. A killed node is replaced at once.
TEST_P(ExactRun, SurvivesKillsInTheMiddleOfSteps) {
  const std::size_t wanted = GetParam().kills;
  const Folder folder;
  const std::string job = GetParam().job(folder, 16, 64, GetParam().killed_steps);
  const std::string expected = reference_hash(job);
  Process run({"wide", "train", job, "--nodes", "3", "--json", "--log", "verbose", "--out",
               folder.file("run")});
  std::mt19937 dice(GetParam().name[0]);

  std::size_t kills = 0;
  while (kills < wanted && run.wait_for("node joined", 2 + kills)) {
    std::vector<pid_t> nodes;
    for (const pid_t family : descendants(run.pid())) {
      const auto children = descendants(family);
      nodes.insert(nodes.end(), children.begin(), children.end());
    }
    if (nodes.empty()) continue;
    kill(nodes[dice() % nodes.size()], SIGKILL);
    ++kills;
    // Its parent has buried it: the next look at the family finds only the living.
    ASSERT_TRUE(run.wait_for("another takes its place", kills)) << run.err();
  }

  ASSERT_EQ(run.wait(Seconds(120)), 0) << run.err();
  EXPECT_EQ(kills, wanted) << "the run ended before enough nodes were killed";
  EXPECT_EQ(hash_of(summary_of(run)), expected);
}

INSTANTIATE_TEST_SUITE_P(
    Models, ExactRun,
    testing::Values(Kind{"mlp", write_mlp, 60, 2400, 15}, Kind{"tiny", write_tiny, 600, 6000, 4},
                    Kind{"cnn", write_cnn, 60, 60, 15}, Kind{"resnet", write_resnet, 9, 8, 4},
                    Kind{"gpt", write_gpt, 9, 8, 4}, Kind{"script", write_script, 9, 8, 4}),
    [](const auto& kind) { return kind.param.name; });

// Nodes that join over the wire, from outside, while the pool is already at work.
struct Codecs {
  const char* gradient;
  const char* update;

  friend void PrintTo(const Codecs& codecs, std::ostream* out) {
    *out << codecs.gradient << " up, " << codecs.update << " down";
  }
};

class CodedRun : public testing::TestWithParam<Codecs> {};

TEST_P(CodedRun, EqualsThePlainLoopForAnyNodesAndLeases) {
  const Folder folder;
  const std::string job =
      folder.write("job.toml", mlp_job(7, 13, 6) + "[codec]\ngradient = \"" + GetParam().gradient +
                                   "\"\nupdate = \"" + GetParam().update + "\"\n");
  const std::string expected = reference_hash(job);
  ASSERT_EQ(expected.size(), 64u);

  const std::vector<std::vector<std::string>> casts = {{"--nodes", "1"},
                                                       {"--nodes", "3", "--lease-blocks", "1"},
                                                       {"--nodes", "2", "--lease-blocks", "4"}};
  for (const auto& cast : casts) {
    const Json summary = train(folder, job, cast);
    EXPECT_EQ(hash_of(summary), expected) << testing::PrintToString(cast);
  }
}

INSTANTIATE_TEST_SUITE_P(Codecs, CodedRun,
                         testing::Values(Codecs{"fp16", "bf16"}, Codecs{"bf16", "fp16"},
                                         Codecs{"int8", "int8"}, Codecs{"int4", "int4"},
                                         Codecs{"topk", "topk"}, Codecs{"sign", "sign"},
                                         Codecs{"none", "powersgd"}));

std::string with_delay(const std::string& job, int delay) {
  return job + "[strategy]\ndelay = " + std::to_string(delay) + "\n";
}

// One holder, who is helped and goes on unasked, across evaluations too.
TEST(DelayedKin, EqualsThePlainLoopForAnyNodes) {
  for (const int delay : {1, 2}) {
    const Folder folder;
    const std::string job =
        folder.write("job.toml", with_delay(tiny_job(7, 13, 900), delay) + "[eval]\nevery = 110\n");
    const std::string expected = reference_hash(job);
    for (const char* nodes : {"1", "2", "10"}) {
      EXPECT_EQ(hash_of(train(folder, job, {"--nodes", nodes})), expected) << nodes;
    }
  }
}

class DelayedRun : public testing::TestWithParam<std::tuple<int, const char*>> {};

TEST_P(DelayedRun, EqualsThePlainLoopForAnyNodesSlotsAndLeases) {
  const auto [delay, gradient] = GetParam();
  const Folder folder;
  const std::string job =
      folder.write("job.toml", with_delay(mlp_job(7, 13, 40), delay) + "[codec]\ngradient = \"" +
                                   gradient + "\"\n[eval]\nevery = 11\n");
  const std::string expected = reference_hash(job);
  ASSERT_EQ(expected.size(), 64u);

  const std::vector<std::vector<std::string>> casts = {{"--nodes", "1"},
                                                       {"--nodes", "10"},
                                                       {"--nodes", "2", "--slots", "4"},
                                                       {"--nodes", "3", "--lease-blocks", "1"},
                                                       {"--nodes", "2", "--lease-blocks", "4"}};
  for (const auto& cast : casts) {
    const Json summary = train(folder, job, cast);
    EXPECT_EQ(hash_of(summary), expected) << testing::PrintToString(cast);
    EXPECT_EQ(summary["units"], 40 * 7);
    EXPECT_TRUE(summary["reproducible"]);
  }
}

INSTANTIATE_TEST_SUITE_P(Delays, DelayedRun,
                         testing::Combine(testing::Values(1, 2, 16),
                                          testing::Values("none", "int8")));

TEST(JoinedRun, EqualsThePlainLoopWhenNodesComeAndGo) {
  const Folder folder;
  const std::string job = folder.write("job.toml", mlp_job(7, 64, 300));
  const std::string expected = reference_hash(job);
  PoolProcess pool(folder, job);
  Process first({"wide", "join", pool.url(), "--slots", "1", "--name", "first"});
  ASSERT_TRUE(pool.process().wait_for("node joined")) << first.err();
  Process second({"wide", "join", pool.url(), "--slots", "2", "--name", "second"});
  ASSERT_TRUE(pool.process().wait_for("node joined", 2)) << second.err();

  first.signal(SIGINT);
  EXPECT_EQ(first.wait(), 130);
  EXPECT_TRUE(pool.process().wait_for("node left"));

  EXPECT_EQ(hash_of(pool.end()), expected);
  EXPECT_EQ(second.wait(), 0) << second.err();
}

TEST(PortableNumerics, TrainsAndSaysSoInTheJob) {
  const Folder folder;
  const std::string job =
      folder.write("job.toml", mlp_job(4, 32, 10) + "numerics = \"portable\"\n");

  const Json one = train(folder, job, {"--nodes", "1"});
  const Json three = train(folder, job, {"--nodes", "3"});

  EXPECT_EQ(hash_of(one), hash_of(three));
}

TEST(ExportedWeights, GiveTheSameAnswersInPyTorch) {
  const Folder folder;
  const std::string job = folder.write("job.toml", cnn_job(8, 32, 60));
  const Json summary = run_to_end({"wide", "train", job, "--nodes", "2", "--json", "--log",
                                   "silent", "--out", folder.file("run")});
  Process exporting({"wide", "export", folder.file("run"), "--out", folder.file("w.safetensors")});
  ASSERT_EQ(exporting.wait(), 0) << exporting.err();

  Process python({"/usr/bin/python3", std::string(WIDE_SOURCE_FOLDER) + "/scripts/load_export.py",
                  folder.file("w.safetensors"), "--samples", "10000"});

  ASSERT_EQ(python.wait(), 0) << python.err();
  const Json loaded = Json::parse(python.out(), nullptr, false);
  ASSERT_TRUE(loaded.is_object()) << python.out();
  EXPECT_NEAR(loaded["loss_sum"].get<double>() / 10000, summary["eval_loss"].get<double>(), 1e-6);
  // Not a sample may fall differently, but for ties that the last bit of a sum decides.
  EXPECT_NEAR(loaded["accuracy"].get<double>(), summary["accuracy"].get<double>(), 0.0002);
}

TEST(Tiny2024, LearnsWhatTheOldSystemNeverDid) {
  const Folder folder;
  const std::string job = std::string(WIDE_SOURCE_FOLDER) + "/examples/tiny-2024.toml";

  const Json summary = run_to_end({"wide", "train", job, "--nodes", "2", "--json", "--log",
                                   "silent", "--out", folder.file("run")});

  EXPECT_LT(summary["loss_last"].get<double>(), 1.0);
  EXPECT_LE(summary["seconds"].get<double>(), 31);
}

TEST(Divergence, EndsWithSixAndNamesStepAndUnit) {
  const Folder folder;
  std::string text = cnn_job(4, 13, 500);
  text.replace(text.find("lr = 0.02"), 9, "lr = 1e30");
  const std::string job = folder.write("job.toml", text);

  Process run({"wide", "train", job, "--nodes", "2", "--out", folder.file("run")});

  EXPECT_EQ(run.wait(Seconds(60)), 6) << run.err();
  for (const char* word : {"W601", "step", "unit"}) {
    EXPECT_NE(run.err().find(word), std::string::npos) << run.err();
  }
}

}  // namespace
}  // namespace wide::tests
