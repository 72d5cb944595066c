// What users get wrong with models and samples, and what they are told: a code, and the file.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "jobs.h"
#include "runs.h"

namespace wide::tests {
namespace {

std::string python(const Folder& folder, const std::string& code) {
  Process process({"/usr/bin/python3", folder.write("make.py", "import numpy as np\n" + code)});
  EXPECT_EQ(process.wait(), 0) << process.err();
  return process.out();
}

// Runs `wide train` on a job that cannot work; what it said.
std::string refusal(const Folder& folder, const std::string& job, int expected_code) {
  Process process({"wide", "train", folder.write("job.toml", job), "--nodes", "1", "--out",
                   folder.file("run"), "--log", "silent"});
  EXPECT_EQ(process.wait(Seconds(60)), expected_code) << process.err();
  EXPECT_FALSE(std::filesystem::exists(folder.file("run"))) << "nothing was begun";
  return process.err();
}

void expect_words(const std::string& said, const std::vector<std::string>& words) {
  for (const auto& word : words)
    EXPECT_NE(said.find(word), std::string::npos) << word << "\n" << said;
}

std::string npy_job(const Folder& folder, const std::string& more = "") {
  return "[model]\nkind = \"mlp\"\nlayers = [4, 3]\n[data]\nkind = \"npy\"\npath = \"" +
         folder.file("x.npy") + "\"\nlabels = \"" + folder.file("y.npy") + "\"\n" + more +
         "[train]\nbatch = 4\nunits_per_step = 2\nsteps = 3\n";
}

TEST(NpyFiles, TrainWithLabelsOfAnyKind) {
  for (const std::string type : {"uint8", "int32", "int64"}) {
    const Folder folder;
    python(folder, "np.save('" + folder.file("x.npy") +
                       "', np.arange(80).reshape(20, 4).astype('float16'))\nnp.save('" +
                       folder.file("y.npy") + "', (np.arange(20) % 3).astype('" + type + "'))\n");

    const Json summary =
        run_to_end({"wide", "train", folder.write("job.toml", npy_job(folder)), "--nodes", "1",
                    "--json", "--log", "silent", "--out", folder.file("run")});

    EXPECT_EQ(summary["steps"], 3) << type;
  }
}

TEST(NpyFiles, FloatLabelsMakeARegression) {
  const Folder folder;
  python(folder, "x = np.random.default_rng(1).normal(size=(64, 4)).astype('float32')\nnp.save('" +
                     folder.file("x.npy") + "', x)\nnp.save('" + folder.file("y.npy") +
                     "', (x @ np.ones((4, 3))).astype('float32'))\n");
  std::string job = npy_job(folder, "[eval]\nfraction = 0.25\n");
  job += "loss = \"mse\"\nlr = 0.05\n";
  job.replace(job.find("steps = 3"), 9, "steps = 200");

  const Json summary = run_to_end({"wide", "train", folder.write("job.toml", job), "--nodes", "2",
                                   "--json", "--log", "silent", "--out", folder.file("run")});

  EXPECT_LT(summary["eval_loss"].get<double>(), 0.05);
  EXPECT_TRUE(summary["accuracy"].is_null());
}

TEST(NpyFiles, LabelsOutOfRangeAreNamed) {
  const Folder folder;
  python(folder, "np.save('" + folder.file("x.npy") + "', np.zeros((20, 4), 'float32'))\n" +
                     "y = np.zeros(20, 'int64'); y[7] = 12\nnp.save('" + folder.file("y.npy") +
                     "', y)\n");

  expect_words(refusal(folder, npy_job(folder, "classes = 3\n"), 7), {"W206", "y.npy", "12", "7"});
}

TEST(NpyFiles, TruncatedOnesAndLyingHeadersAreNamed) {
  const Folder folder;
  python(folder, "np.save('" + folder.file("x.npy") +
                     "', np.zeros((20, 4), 'float32'))\nnp.save('" + folder.file("y.npy") +
                     "', np.zeros(20, 'int64'))\n");
  std::filesystem::resize_file(folder.file("x.npy"), 300);

  expect_words(refusal(folder, npy_job(folder), 7), {"W202", "x.npy"});

  std::filesystem::resize_file(folder.file("x.npy"), 10);
  expect_words(refusal(folder, npy_job(folder), 7), {"W202", "x.npy"});
  std::filesystem::remove(folder.file("x.npy"));
  expect_words(refusal(folder, npy_job(folder), 7), {"W201", "x.npy"});
}

TEST(Tokens, BeyondTheVocabularyAreSaid) {
  const Folder folder;
  python(folder, "t = np.arange(5000, dtype='uint16') % 90\nt[4000] = 300\nt.tofile('" +
                     folder.file("t.bin") + "')\n");
  const std::string job =
      "[model]\nkind = \"gpt\"\nlayers = 1\nheads = 1\nwidth = 8\ncontext = 16\nvocabulary = 100\n"
      "[data]\nkind = \"tokens\"\npath = \"" +
      folder.file("t.bin") + "\"\n[train]\nbatch = 2\nsteps = 2\n";

  expect_words(refusal(folder, job, 7), {"W207", "100", "300"});
}

TEST(TorchScriptFiles, AreRefusedWithTheReason) {
  const Folder folder;
  const std::string file = folder.file("model.pt");

  expect_words(refusal(folder, script_job(file), 7), {"W211", "model.pt"});
  folder.write("model.pt", "PK no such thing");
  expect_words(refusal(folder, script_job(file), 7), {"W213", "model.pt"});
  python(folder,
         "import torch\nclass Two(torch.nn.Module):\n    def __init__(self):\n        "
         "super().__init__()\n        self.w = torch.nn.Parameter(torch.ones(3))\n    def "
         "forward(self, a, b):\n        return a * self.w + b\ntorch.jit.script(Two()).save('" +
             file + "')\n");
  expect_words(refusal(folder, script_job(file), 7), {"W213", "model.pt"});
  std::string other = script_job(file);
  other.insert(other.find("[data]"), "sha256 = \"" + std::string(64, 'a') + "\"\n");
  Process export_model({"/usr/bin/python3",
                        std::string(WIDE_SOURCE_FOLDER) + "/scripts/export_models.py", "mobile",
                        file, "--small"});
  ASSERT_EQ(export_model.wait(), 0) << export_model.err();
  expect_words(refusal(folder, other, 7), {"W212", "model.pt"});
}

TEST(TorchScriptFiles, ANodeNeedsItsOwnCopyOfTheSameFile) {
  const Folder folder;
  const auto make = [&](const std::string& file, const std::string& seed) {
    Process process({"/usr/bin/python3",
                     std::string(WIDE_SOURCE_FOLDER) + "/scripts/export_models.py", "mobile",
                     folder.file(file), "--small", "--seed", seed});
    EXPECT_EQ(process.wait(), 0) << process.err();
  };
  make("model.pt", "1");
  make("other.pt", "2");
  PoolProcess pool(folder, folder.write("job.toml", script_job(folder.file("model.pt"))));

  Process without({"wide", "join", pool.url(), "--slots", "1"});
  EXPECT_EQ(without.wait(), 7);
  expect_words(without.err(), {"W211", "--model"});
  Process wrong({"wide", "join", pool.url(), "--slots", "1", "--model", folder.file("other.pt")});
  EXPECT_EQ(wrong.wait(), 7);
  expect_words(wrong.err(), {"W212"});
  Process right({"wide", "join", pool.url(), "--slots", "2", "--model", folder.file("model.pt")});

  EXPECT_EQ(pool.end()["steps"], 8);
  EXPECT_EQ(right.wait(), 0) << right.err();
}

class ChangingText : public testing::Test {
 protected:
  // Starts training on a text, does something to it, and waits for the end.
  std::string said_after(const std::function<void(const std::string&)>& change) {
    const std::string text = folder_.write("text.txt", made_up_text(8 << 20));
    const std::string job = folder_.write("job.toml", gpt_job(text, 5, 3, 1000000));
    Process run(
        {"wide", "train", job, "--nodes", "2", "--out", folder_.file("run"), "--log", "verbose"});
    EXPECT_TRUE(run.wait_for("node joined", 2)) << run.err();
    change(text);
    EXPECT_EQ(run.wait(Seconds(20)), 1) << run.err();
    return run.err();
  }

  Folder folder_;
};

TEST_F(ChangingText, EndsTheRunWithACode) {
  expect_words(said_after([](const std::string& text) {
                 std::ofstream(text, std::ios::app) << "one more line\n";
               }),
               {"W205", "text.txt"});
}

TEST_F(ChangingText, EndsTheRunWithACodeWhenItIsCutShort) {
  expect_words(
      said_after([](const std::string& text) { std::filesystem::resize_file(text, 4096); }),
      {"W205"});
}

}  // namespace
}  // namespace wide::tests
