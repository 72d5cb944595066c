// The keys of every kind of model and samples: what they default to, and which go with which.

#include "wide/engine/job_kinds.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "wide/engine/job.h"

namespace wide::engine {
namespace {

namespace fs = std::filesystem;

Job parsed(const std::string& text) {
  auto job = parse_job(text, "job.toml");
  EXPECT_TRUE(job) << (job ? "" : job.error().detail) << "\n" << text;
  return job ? *job : Job{};
}

// "W105 job.toml:3: …" of a file that begins with these lines of [model] and then these of [data].
std::string complaint(const std::string& model, const std::string& samples,
                      const std::string& rest = "") {
  const auto job =
      parse_job("[model]\n" + model + "\n[data]\n" + samples + "\n" + rest, "job.toml");
  if (job) return "no complaint";
  return "W" + std::to_string(static_cast<int>(job.error().code)) + " " + job.error().detail;
}

const std::string kGpt = "kind = 'gpt'";
const std::string kScript = "kind = 'torchscript'\nfile = 'a.pt'";
const std::string kText = "kind = 'text'\npath = 'a.txt'";
const std::string kNpy = "kind = 'npy'\npath = 'x.npy'\nlabels = 'y.npy'";

TEST(ParseModel, GivesAResnetItsDefaults) {
  const auto job = parsed("[model]\nkind = 'resnet'\n[data]\nkind = 'fashion-mnist'\n");

  EXPECT_EQ(job.model.kind, ModelKind::kResnet);
  EXPECT_EQ(job.model.depth, 20u);
  EXPECT_EQ(job.model.width, 16u);
}

TEST(ParseModel, GivesAGptItsDefaults) {
  const auto job = parsed("[model]\n" + kGpt + "\n[data]\n" + kText);

  EXPECT_EQ(job.model.layer_count, 4u);
  EXPECT_EQ(job.model.heads, 4u);
  EXPECT_EQ(job.model.width, 128u);
  EXPECT_EQ(job.model.context, 128u);
  EXPECT_EQ(job.model.dropout, 0.0f);
  EXPECT_EQ(job.model.vocabulary, 256u);
  EXPECT_TRUE(job.model.tied);
  EXPECT_EQ(job.samples.path, "a.txt");
  EXPECT_EQ(job.eval.batch, 16u);
}

TEST(ParseModel, ReadsAllOfAGpt) {
  const auto job = parsed(
      "[model]\nkind = 'gpt'\nlayers = 6\nheads = 3\nwidth = 48\ncontext = 64\ndropout = 0.5\n"
      "vocabulary = 50257\ntied = false\n[data]\nkind = 'tokens'\npath = 'a.bin'\n"
      "ship = 'always'\nwindow_chunks = 32\n[eval]\nfraction = 0.1\nbatch = 4\n");

  EXPECT_EQ(job.model.layer_count, 6u);
  EXPECT_EQ(job.model.heads, 3u);
  EXPECT_EQ(job.model.width, 48u);
  EXPECT_EQ(job.model.context, 64u);
  EXPECT_EQ(job.model.dropout, 0.5f);
  EXPECT_EQ(job.model.vocabulary, 50257u);
  EXPECT_FALSE(job.model.tied);
  EXPECT_EQ(job.samples.kind, SampleKind::kTokens);
  EXPECT_EQ(job.samples.ship, Ship::kAlways);
  EXPECT_EQ(job.samples.window_chunks, 32u);
  EXPECT_EQ(job.eval.fraction, 0.1);
  EXPECT_EQ(job.eval.batch, 4u);
}

TEST(ParseModel, ReadsAScriptsHashInEitherCase) {
  const auto hash = sha256("a").hex();
  auto shouted = hash;
  for (char& letter : shouted) letter = static_cast<char>(std::toupper(letter));
  const auto read = [](const std::string& hex) {
    return parsed("[model]\n" + kScript + "\nsha256 = '" + hex + "'\n[data]\n" + kNpy).model;
  };

  EXPECT_EQ(read(hash).sha256, sha256("a"));
  EXPECT_EQ(read(shouted).sha256, sha256("a"));
  EXPECT_EQ(read(hash).file, "a.pt");
  EXPECT_TRUE(parsed("[model]\n" + kScript + "\n[data]\n" + kNpy).model.sha256.is_zero());
}

TEST(ParseSamples, ReadsAllOfNpy) {
  const auto job = parsed("[model]\n" + kScript + "\n[data]\n" + kNpy +
                          "\nclasses = 7\nmean = -0.5\nstd = 2\n"
                          "[eval]\npath = 'tx.npy'\nlabels = 'ty.npy'\n");

  EXPECT_EQ(job.samples.path, "x.npy");
  EXPECT_EQ(job.samples.labels, "y.npy");
  EXPECT_EQ(job.samples.classes, 7u);
  EXPECT_EQ(job.samples.mean, -0.5);
  EXPECT_EQ(job.samples.deviation, 2.0);
  EXPECT_EQ(job.eval.path, "tx.npy");
  EXPECT_EQ(job.eval.labels, "ty.npy");
  EXPECT_EQ(job.eval.batch, 250u);
}

TEST(ParseSamples, CountsClassesItselfWhereNoneAreNamed) {
  EXPECT_EQ(parsed("[model]\n" + kScript + "\n[data]\n" + kNpy).samples.classes, 0u);
}

TEST(ParseModel, RefusesKeysOfOtherKinds) {
  const std::string images = "kind = 'fashion-mnist'";

  EXPECT_EQ(complaint("kind = 'resnet'\nbatch_norm = true", images),
            "W103 job.toml:3: key 'batch_norm' in [model] does not go with a resnet");
  EXPECT_EQ(complaint("kind = 'resnet'\ndropout = 0.1", images),
            "W103 job.toml:3: key 'dropout' in [model] does not go with a resnet");
  EXPECT_EQ(complaint("kind = 'cnn'\nheads = 2", images),
            "W103 job.toml:3: key 'heads' in [model] does not go with a cnn");
  EXPECT_EQ(complaint(kGpt + "\nfile = 'a.pt'", kText),
            "W103 job.toml:3: key 'file' in [model] does not go with a gpt");
  EXPECT_EQ(complaint(kScript + "\ndropout = 0.1", kText),
            "W103 job.toml:4: key 'dropout' in [model] does not go with a torchscript model");
  EXPECT_EQ(complaint(kScript + "\ncontext = 64", kNpy),
            "W103 job.toml:4: key 'context' in [model] does not go with a torchscript model of npy "
            "files");
  EXPECT_EQ(complaint(kScript + "\ncontext = 64", kText), "no complaint");
  EXPECT_EQ(complaint(kGpt + "\nhaeds = 2", kText),
            "W103 job.toml:3: unknown key 'haeds' in [model] (did you mean 'heads'?)");
}

TEST(ParseModel, RefusesSizesThatCannotBe) {
  const std::string images = "kind = 'fashion-mnist'";

  for (const auto* depth : {"2", "7", "9", "1203", "1208"}) {
    EXPECT_EQ(
        complaint(std::string("kind = 'resnet'\ndepth = ") + depth, images),
        std::string("W105 job.toml:3: [model] depth must be 6n + 2, 8 to 1202, not ") + depth);
  }
  EXPECT_EQ(complaint("kind = 'resnet'\ndepth = 1202", images), "no complaint");
  EXPECT_EQ(complaint("kind = 'resnet'\nwidth = 100000", images),
            "W105 job.toml:3: [model] a resnet of this size has more than 2^31 parameters");
  EXPECT_EQ(complaint(kGpt + "\nwidth = 130", kText),
            "W105 job.toml:3: [model] width must be a multiple of heads, which is 4, not 130");
  EXPECT_EQ(complaint(kGpt + "\nheads = 0", kText).substr(0, 30), "W105 job.toml:3: [model] heads");
  EXPECT_EQ(complaint(kGpt + "\nlayers = 0", kText).substr(0, 31),
            "W105 job.toml:3: [model] layers");
  EXPECT_EQ(complaint(kGpt + "\nlayers = [2]", kText),
            "W104 job.toml:3: [model] layers must be a whole number, not a list");
  EXPECT_EQ(complaint(kGpt + "\nvocabulary = 4000000000", kText),
            "W105 job.toml:2: [model] a gpt of this size has more than 2^31 parameters");
  EXPECT_EQ(complaint(kGpt + "\ncontext = 0", kText),
            "W105 job.toml:3: [model] context must be 1 to 1048576, not 0");
  EXPECT_EQ(complaint(kScript + "\nsha256 = 'abc'", kText),
            "W105 job.toml:4: [model] sha256 must be 64 hexadecimal letters, not 'abc'");
  EXPECT_EQ(complaint(kScript + "\nsha256 = '" + std::string(63, 'a') + "g'", kText).substr(0, 31),
            "W105 job.toml:4: [model] sha256");
}

TEST(ParseSamples, RefusesWhatDoesNotGoWithTheKind) {
  const auto of = [](const std::string& samples) { return complaint(kScript, samples); };

  EXPECT_EQ(of("kind = 'synthetic'\nwindow_chunks = 4"),
            "W103 job.toml:6: key 'window_chunks' in [data] does not go with synthetic data");
  EXPECT_EQ(of("kind = 'synthetic'\nship = 'always'").substr(0, 46),
            "W105 job.toml:6: [data] ship = \"always\" means ");
  EXPECT_EQ(of("kind = 'synthetic'\nship = 'local'"), "no complaint");
  EXPECT_EQ(of("kind = 'fashion-mnist'\nship = 'always'"), "no complaint");
  EXPECT_EQ(of(kText + "\nlabels = 'y'"),
            "W103 job.toml:7: key 'labels' in [data] does not go with text");
  EXPECT_EQ(of("kind = 'tokens'\npath = 'a'\nstd = 2"),
            "W103 job.toml:7: key 'std' in [data] does not go with tokens");
  EXPECT_EQ(of("kind = 'fashion-mnist'\nmean = 0.5"),
            "W103 job.toml:6: key 'mean' in [data] does not go with fashion-mnist");
  EXPECT_EQ(of(kNpy + "\nstd = 0"),
            "W105 job.toml:8: [data] std must be a finite number above 0, not 0");
  EXPECT_EQ(of(kNpy + "\nmean = nan"),
            "W105 job.toml:8: [data] mean must be a finite number, not nan");
  EXPECT_EQ(of("kind = 'idx'\npath = \"a\\u0007\"\nlabels = 'b'"),
            "W105 job.toml:6: [data] path has a control character");
}

// An empty one is what nodes are told; whoever opens the files says that they are missing.
TEST(ParseSamples, WantsItsFilesNamed) {
  EXPECT_EQ(complaint(kGpt, "kind = 'text'"),
            "W105 job.toml:3: [data] needs a file of samples: path = \"…\"");
  EXPECT_EQ(complaint(kScript, "kind = 'idx'\npath = 'x'"),
            "W105 job.toml:4: [data] needs a file of labels: labels = \"…\"");
  EXPECT_EQ(complaint("kind = 'torchscript'", kNpy),
            "W105 job.toml:1: [model] needs the TorchScript file: file = \"…\"");
  EXPECT_EQ(complaint("kind = 'torchscript'\nfile = ''", "kind = 'idx'\npath = ''\nlabels = ''"),
            "no complaint");
}

TEST(ParseEval, HoldsOutOneWayOnly) {
  const auto of = [](const std::string& samples, const std::string& eval) {
    return complaint(kScript, samples, "[eval]\n" + eval);
  };

  EXPECT_EQ(of(kText, "path = 'b.txt'\nfraction = 0.1"),
            "W105 job.toml:9: [eval] takes path or fraction, not both");
  EXPECT_EQ(of(kText, "fraction = 1"),
            "W105 job.toml:8: [eval] fraction must be at least 0 and below 1, not 1");
  EXPECT_EQ(of(kText, "fraction = nan").substr(0, 32), "W105 job.toml:8: [eval] fraction");
  EXPECT_EQ(of(kText, "labels = 'b'"),
            "W103 job.toml:8: key 'labels' in [eval] does not go with text");
  EXPECT_EQ(of(kNpy, "path = 'b'").substr(0, 41), "W105 job.toml:9: [eval] path needs labels");
  EXPECT_EQ(of(kNpy, "labels = 'b'").substr(0, 42), "W105 job.toml:9: [eval] labels needs path ");
  EXPECT_EQ(of("kind = 'fashion-mnist'", "fraction = 0.1"),
            "W103 job.toml:7: key 'fraction' in [eval] does not go with fashion-mnist");
  EXPECT_EQ(of("kind = 'synthetic'", "path = 'b'"),
            "W103 job.toml:7: key 'path' in [eval] does not go with synthetic data");
}

TEST(ParseJob, RefusesPairsThatCannotBe) {
  const std::string images = "kind = 'fashion-mnist'";

  EXPECT_EQ(complaint(kGpt, images), "W106 job.toml:2: [model] a gpt cannot learn fashion-mnist");
  EXPECT_EQ(complaint("kind = 'cnn'", kText), "W106 job.toml:2: [model] a cnn cannot learn text");
  EXPECT_EQ(complaint("kind = 'resnet'", "kind = 'synthetic'"),
            "W106 job.toml:2: [model] a resnet cannot learn synthetic data");
  EXPECT_EQ(complaint("kind = 'mlp'\nlayers = [10, 10]", "kind = 'synthetic'"), "no complaint");
  EXPECT_EQ(complaint(kScript, kText), "no complaint");
}

// The word alone is told, not that other keys do not go with what stands in for it.
TEST(ParseModel, TellsOfAMistypedKindFirst) {
  EXPECT_EQ(complaint("heads = 4\nkind = 'gtp'", kText),
            "W105 job.toml:3: [model] kind must be one of mlp, cnn, resnet, gpt, torchscript, not "
            "'gtp' (did you mean 'gpt'?)");
}

class Example : public testing::TestWithParam<fs::path> {};

TEST_P(Example, IsAJob) {
  std::ifstream file(GetParam());
  const std::string text{std::istreambuf_iterator<char>(file), {}};

  const auto job = parsed(text);

  EXPECT_EQ(job.name, GetParam().stem().string());
  EXPECT_EQ(parsed(canonical_text(job)), job);
}

std::vector<fs::path> examples() {
  const auto root = fs::path(__FILE__).parent_path().parent_path().parent_path().parent_path();
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(root / "examples")) {
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

INSTANTIATE_TEST_SUITE_P(Files, Example, testing::ValuesIn(examples()), [](const auto& file) {
  std::string name = file.param.stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace wide::engine
