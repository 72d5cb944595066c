#include "wide/apps/cli/job_template.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include <nlohmann/json.hpp>

#include "wide/apps/cli/commands.h"
#include "wide/engine/job_words.h"

namespace wide::apps {

namespace {
namespace fs = std::filesystem;
using engine::ModelKind;
using engine::SampleKind;

Error complaint_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Failure& failure) {
    return failure.error();
  }
  return {Errc::kBug, "no complaint"};
}

// What the files of a template would turn out to hold.
SampleSpace space_of(const engine::Job& job) {
  SampleSpace space;
  space.train_count = 10000;
  space.sample_shape = {1, 28, 28};
  space.class_count = 10;
  if (job.samples.kind == SampleKind::kSynthetic) space.sample_shape = {job.samples.features};
  const bool text = job.samples.kind == SampleKind::kText;
  if (!text && job.samples.kind != SampleKind::kTokens) return space;
  space.sample_shape = {job.model.context};
  space.target_count = job.model.context;
  space.class_count = text ? 256 : 50257;
  space.tokens = true;
  return space;
}

// A folder of its own, gone at the end of the test.
class Folder final {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "wide-new-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

std::string read(const std::string& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

struct Said {
  std::string out;
  Error error{Errc::kBug, "no complaint"};
};

Said say(std::vector<std::string> arguments) {
  Said said;
  testing::internal::CaptureStdout();
  said.error = complaint_of([&] { run_new({std::move(arguments), {}}); });
  std::fflush(stdout);
  said.out = testing::internal::GetCapturedStdout();
  return said;
}
}  // namespace

TEST(JobTemplate, FitsItsSamplesForEveryPair) {
  int pairs = 0;
  for (const auto& model : engine::kModelWords) {
    for (const auto& samples : engine::kSampleWords) {
      if (!engine::goes_with(*model.choice, *samples.choice)) continue;
      ++pairs;
      const auto text = job_template(*model.choice, *samples.choice, "job.toml");

      const auto job = engine::parse_job(text, "job.toml");

      ASSERT_TRUE(job) << job.error().detail << "\n" << text;
      EXPECT_EQ(job->model.kind, *model.choice);
      EXPECT_EQ(job->samples.kind, *samples.choice);
      const auto fit = engine::validate_fit(*job, space_of(*job));
      EXPECT_TRUE(fit) << fit.error().detail << "\n" << text;
    }
  }
  EXPECT_EQ(pairs, 4 + 3 + 3 + 2 + 6);
}

// Every line of 100 columns at most, and every key with a word or a neighbour's.
TEST(JobTemplate, FitsATerminal) {
  for (const auto& model : engine::kModelWords) {
    const auto text = job_template(*model.choice, usual_samples(*model.choice), "job.toml");
    std::size_t begin = 0;
    for (auto end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
      EXPECT_LE(end - begin, 104u) << text.substr(begin, end - begin);
      begin = end + 1;
    }
    EXPECT_EQ(begin, text.size());
  }
}

// A file's name stands in a comment, which a new line would end.
TEST(JobTemplate, SurvivesOddNames) {
  for (const auto* name : {"a\nb = {}.toml", "\xff.toml", "\x7f", "b c.toml"}) {
    const auto text = job_template(ModelKind::kCnn, SampleKind::kIdx, name);

    const auto job = engine::parse_job(text, "job.toml");

    EXPECT_TRUE(job) << job.error().detail;
  }
}

TEST(JobTemplate, NamesWhatWouldGoWithTheModel) {
  const auto error =
      complaint_of([] { job_template(ModelKind::kGpt, SampleKind::kNpy, "job.toml"); });

  EXPECT_EQ(error.code, Errc::kUsage);
  EXPECT_EQ(error.detail, "a gpt cannot learn npy files; it goes with text, tokens");
}

TEST(WideNew, SuggestsTheNearestKind) {
  const auto model = say({"restnet"}).error;
  const auto samples = say({"cnn", "--data", "fashion"}).error;

  EXPECT_EQ(model.code, Errc::kUsage);
  EXPECT_EQ(model.detail, "there is no kind of model 'restnet'; did you mean 'resnet'?");
  EXPECT_EQ(samples.detail,
            "there is no kind of data 'fashion'; there are fashion-mnist, synthetic, idx, npy, "
            "text, tokens");
}

TEST(WideNew, WritesAFileOnce) {
  const Folder folder;
  const auto file = folder.file("job.toml");

  EXPECT_EQ(say({"mlp", "--out", file}).error.detail, "no complaint");
  EXPECT_TRUE(engine::parse_job(read(file), file));
  const auto again = say({"cnn", "--out", file}).error;
  EXPECT_EQ(again.code, Errc::kUsage);
  EXPECT_NE(again.detail.find("--force"), std::string::npos) << again.detail;
  EXPECT_NE(read(file).find("kind = \"mlp\""), std::string::npos);
  EXPECT_EQ(say({"cnn", "--out", file, "--force"}).error.detail, "no complaint");
  EXPECT_NE(read(file).find("kind = \"cnn\""), std::string::npos);
}

TEST(WideNew, SaysAsJsonWhatWasWritten) {
  const Folder folder;
  const auto file = folder.file("job.toml");

  const auto json = nlohmann::json::parse(say({"gpt", "--out", file, "--json"}).out);

  EXPECT_EQ(json, (nlohmann::json{{"file", file}, {"model", "gpt"}, {"data", "text"}}));
  EXPECT_EQ(say({"gpt", "--out", "-", "--json"}).error.code, Errc::kUsage);
}

TEST(WideNew, PrintsTheFileItself) {
  const auto said = say({"torchscript", "--data", "tokens", "--out", "-"});

  const auto job = engine::parse_job(said.out, "stdout");

  ASSERT_TRUE(job) << job.error().detail;
  EXPECT_EQ(job->model.kind, ModelKind::kTorchScript);
  EXPECT_EQ(job->samples.kind, SampleKind::kTokens);
}

TEST(WideNew, SaysWhereItCannotWrite) {
  const Folder folder;

  const auto error = say({"cnn", "--out", folder.file("none/job.toml")}).error;

  EXPECT_EQ(error.code, Errc::kCannotWrite);
  EXPECT_NE(error.detail.find("none/job.toml"), std::string::npos) << error.detail;
}

}  // namespace wide::apps
