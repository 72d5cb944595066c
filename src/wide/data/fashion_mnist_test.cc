#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include "wide/data/dataset.h"
#include "wide/data/loaded_sample.h"
#include "wide/data/recipe.h"
#include "wide/data/scratch_folder.h"

namespace wide::data {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::array<const char*, 4> kNames = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                               "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};

Recipe fashion(const std::filesystem::path& folder) {
  Recipe recipe;
  recipe.format = Format::kFashionMnist;
  recipe.path = folder;
  return recipe;
}

// A set of three and two images of 2 × 2, and the means to spoil one file.
class SmallFashion : public ::testing::Test {
 protected:
  SmallFashion()
      : texts_{idx_text({3, 2, 2}, "abcdefghijkl"), idx_text({3}, std::string("\x00\x09\x05", 3)),
               idx_text({2, 2, 2}, std::string("\x00\x01\x80\xff"
                                               "wxyz",
                                               8)),
               idx_text({2}, std::string("\x01\x02", 2))} {}

  void write_plain() const {
    for (std::size_t i = 0; i < 4; ++i) write_text(folder_ / "set" / kNames[i], texts_[i]);
  }
  void write_packed() const {
    for (std::size_t i = 0; i < 4; ++i) write_gzip(packed(i), texts_[i]);
  }
  std::filesystem::path packed(std::size_t i) const {
    return folder_ / "set" / (std::string(kNames[i]) + ".gz");
  }
  Result<DatasetPtr> open() const {
    return open_files(fashion(folder_ / "set"), folder_ / "cache");
  }

  void expect_refused(Errc code, const std::string& file, const std::string& why) const {
    const auto set = open();
    ASSERT_FALSE(set);
    EXPECT_EQ(set.error().code, code);
    EXPECT_THAT(set.error().detail, AllOf(HasSubstr(file), HasSubstr(why)));
  }
  std::filesystem::path unpacked(std::size_t i) const {
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "cache")) {
      const auto copy = entry.path() / kNames[i];
      if (std::filesystem::exists(copy)) return copy;
    }
    return {};
  }

  ScratchFolder folder_;
  std::array<std::string, 4> texts_;
};

std::string digest_of(const LoadedSample& sample) {
  return sha256(std::as_bytes(std::span(sample.values))).hex();
}

// Expected values: scripts/golden_fashion_mnist.py, which reads the files with Python's gzip and
// normalises with numpy.
TEST(DebianFashionMnist, HoldsWhatPythonReads) {
  const ScratchFolder cache;
  const auto opened = open_files(fashion({}), cache.path());
  ASSERT_TRUE(opened) << opened.error().detail;
  const auto& set = **opened;

  EXPECT_EQ(set.space().train_count, 60000u);
  EXPECT_EQ(set.space().eval_count, 10000u);
  EXPECT_EQ(set.space().sample_shape, (std::vector<std::uint32_t>{1, 28, 28}));
  EXPECT_EQ(set.space().class_count, 10u);
  EXPECT_EQ(set.space().sha256.hex(),
            "abec3d1fe5870ad9aae59ebb6c63c91cccbf0d22d5e35020ea5a9dce340c7e95");

  constexpr std::array train_labels = {9, 0, 0, 3, 0, 2, 7, 2, 5, 5};
  constexpr std::array eval_labels = {9, 2, 1, 1, 6, 1, 4, 6, 5, 7};
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(train_sample(set, i).labels[0], train_labels[i]);
    EXPECT_EQ(eval_sample(set, i).labels[0], eval_labels[i]);
  }

  EXPECT_EQ(digest_of(train_sample(set, 0)),
            "87eb489b1c259bd86a98ef75934cc861935234e932113281ed57d8eeedf4214e");
  EXPECT_EQ(digest_of(train_sample(set, 59999)),
            "96c741f7029eb7c80ee2f740fc9228d80b239c4d0070b88aebae993b314ad986");
  EXPECT_EQ(digest_of(eval_sample(set, 0)),
            "42c4284718d24e5effaa2e59e3085c06f9082119284eaa7f6151709c7a7324a4");
}

TEST_F(SmallFashion, NormalisesPixels) {
  write_plain();
  const auto set = open().value();

  const auto loaded = eval_sample(*set, 0);
  const auto& sample = loaded.values;

  EXPECT_EQ(loaded.labels[0], 1);
  EXPECT_FLOAT_EQ(sample[0], -0.81019831f);  // (0 - 0.2860) / 0.3530
  EXPECT_FLOAT_EQ(sample[1], -0.79908905f);  // (1/255 - 0.2860) / 0.3530
  EXPECT_FLOAT_EQ(sample[2], 0.61178691f);   // (128/255 - 0.2860) / 0.3530
  EXPECT_FLOAT_EQ(sample[3], 2.02266289f);   // (1 - 0.2860) / 0.3530
}

TEST_F(SmallFashion, IsTheSamePlainAndPacked) {
  write_plain();
  const auto plain = open().value();
  for (const auto* name : kNames) std::filesystem::remove(folder_ / "set" / name);
  write_packed();
  const auto packed_set = open().value();

  EXPECT_EQ(plain->space().sha256, packed_set->space().sha256);
  for (std::uint64_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(train_sample(*plain, i) == train_sample(*packed_set, i));
  }
}

TEST_F(SmallFashion, UnpacksOnceAndAgainWhenTheSourceChanges) {
  write_packed();
  const auto first = open().value();
  const auto copy = unpacked(0);
  const auto time = std::filesystem::last_write_time(copy);
  std::filesystem::last_write_time(copy, time - std::chrono::hours(1));
  EXPECT_TRUE(open());
  EXPECT_EQ(std::filesystem::last_write_time(copy), time - std::chrono::hours(1));

  texts_[0] = idx_text({3, 2, 2}, "ABCDEFGHIJKL");
  write_packed();
  std::filesystem::last_write_time(packed(0), time + std::chrono::hours(1));
  EXPECT_NE(open().value()->space().sha256, first->space().sha256);
}

TEST_F(SmallFashion, UnpacksAgainOverADamagedCopy) {
  write_packed();
  const auto whole = open().value()->space().sha256;
  std::filesystem::resize_file(unpacked(2), 17);

  const auto again = open();

  ASSERT_TRUE(again) << again.error().detail;
  EXPECT_EQ((*again)->space().sha256, whole);
}

TEST_F(SmallFashion, RefusesMissingFiles) {
  write_plain();
  std::filesystem::remove(folder_ / "set" / kNames[3]);

  expect_refused(Errc::kSamplesMissing, kNames[3], "No such file");
}

TEST_F(SmallFashion, RefusesTruncatedFilesPlainAndPacked) {
  texts_[0].pop_back();
  write_plain();
  expect_refused(Errc::kSamplesCorrupt, kNames[0], "truncated");
  for (const auto* name : kNames) std::filesystem::remove(folder_ / "set" / name);
  write_packed();
  expect_refused(Errc::kSamplesCorrupt, packed(0), "truncated");
  std::filesystem::resize_file(packed(0), 20);
  expect_refused(Errc::kSamplesCorrupt, packed(0), "gzip data end too early");
}

TEST_F(SmallFashion, RefusesLabelsThatDoNotFit) {
  texts_[1] = idx_text({4}, std::string(4, '\1'));
  write_plain();
  expect_refused(Errc::kSamplesCorrupt, kNames[1], "4 labels for 3 samples");

  texts_[1] = idx_text({3}, "\1\12\1");
  write_plain();
  expect_refused(Errc::kLabelOutOfRange, kNames[1], "label 10 of sample 1 is not below 10");

  texts_[1] = idx_text({3, 1, 1}, "\1\1\1");
  write_plain();
  expect_refused(Errc::kSamplesCorrupt, kNames[1], "no labels");

  texts_[1] = idx_text({3, 2}, "\1\1\1\1\1\1");
  write_plain();
  expect_refused(Errc::kSamplesCorrupt, kNames[1], "2 labels for a sample");
}

TEST_F(SmallFashion, RefusesImagesThatDoNotFit) {
  texts_[2] = idx_text({2, 1, 4}, "abcdefgh");
  write_plain();
  expect_refused(Errc::kSamplesCorrupt, kNames[2], "1 × 4, those to train on have 2 × 2");

  texts_[2] = idx_text({8, 1}, "abcdefgh");
  write_plain();
  expect_refused(Errc::kSamplesCorrupt, kNames[2], "no images");

  texts_[2] = idx_text({0, 2, 2}, "");
  write_plain();
  expect_refused(Errc::kTooFewSamples, kNames[2], "no samples");
}

TEST_F(SmallFashion, NeedsACacheFolderOnlyForPackedFiles) {
  write_text(folder_ / "cache", "a file in the way");
  write_packed();
  expect_refused(Errc::kCannotWrite, packed(0), "must be unpacked into the cache folder");
  const auto without = open_files(fashion(folder_ / "set"), {});
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().code, Errc::kCannotWrite);

  write_plain();
  EXPECT_TRUE(open());
  EXPECT_TRUE(open_files(fashion(folder_ / "set"), {}));
}

TEST_F(SmallFashion, RemembersTheManifest) {
  write_plain();
  const auto digest = open().value()->space().sha256;
  const auto time = std::filesystem::last_write_time(folder_ / "set" / kNames[0]);
  auto changed = texts_[0];
  changed.back() = '!';  // the same size, and the time is put back: a stamp cannot tell
  write_text(folder_ / "set" / kNames[0], changed);
  std::filesystem::last_write_time(folder_ / "set" / kNames[0], time);
  EXPECT_EQ(open().value()->space().sha256, digest);

  std::filesystem::last_write_time(folder_ / "set" / kNames[0], time + std::chrono::seconds(1));
  EXPECT_NE(open().value()->space().sha256, digest);
}

// Opens and compares in a child that starts when the pipe is closed; 0 is its good exit code.
pid_t fork_opener(const std::filesystem::path& set, const std::filesystem::path& cache,
                  const Digest& expected, std::array<int, 2> start) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::close(start[1]);
  char byte = 0;
  [[maybe_unused]] const auto closed = ::read(start[0], &byte, 1);
  const auto opened = open_files(fashion(set), cache);
  ::_exit(opened && (*opened)->space().sha256 == expected ? 0 : 1);
}

TEST_F(SmallFashion, MayBeUnpackedByManyProcessesAtOnce) {
  texts_[0] = idx_text({3, 1000, 1000}, std::string(3'000'000, '\x07'));
  texts_[2] = idx_text({2, 1000, 1000}, std::string(2'000'000, '\x08'));
  write_packed();
  const ScratchFolder other_cache;
  const auto expected = open_files(fashion(folder_ / "set"), other_cache.path()).value();
  std::array<int, 2> start = {};
  ASSERT_EQ(::pipe(start.data()), 0);
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    children.push_back(
        fork_opener(folder_ / "set", folder_ / "cache", expected->space().sha256, start));
  }
  ::close(start[0]);
  ::close(start[1]);

  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ / "cache")) {
    EXPECT_THAT(entry.path().string(), Not(HasSubstr("aside")));
  }
}

}  // namespace
}  // namespace wide::data
