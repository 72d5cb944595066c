#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "wide/data/library.h"
#include "wide/data/loaded_sample.h"
#include "wide/data/recipe.h"
#include "wide/data/scratch_folder.h"

namespace wide::data {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Shape = std::vector<std::uint32_t>;

class OpenFiles : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    write_text(folder_ / "set" / name, text);
  }
  std::filesystem::path at(const std::string& name) const { return folder_ / "set" / name; }
  Result<DatasetPtr> open() const { return open_files(recipe_, folder_ / "cache"); }
  DatasetPtr opened() const {
    auto set = open();
    EXPECT_TRUE(set) << set.error().detail;
    return *set;
  }
  void expect_refused(Errc code, const std::string& file, const std::string& why) const {
    const auto set = open();
    ASSERT_FALSE(set) << "should be refused: " << why;
    EXPECT_EQ(set.error().code, code);
    EXPECT_THAT(set.error().detail, AllOf(HasSubstr(file), HasSubstr(why)));
  }
  // Samples a.<kind> and labels b.<kind>.
  void use(Format format, const std::string& samples, const std::string& labels) {
    recipe_.format = format;
    recipe_.path = at("a");
    recipe_.labels = at("b");
    write("a", samples);
    write("b", labels);
  }
  void use_npy(const std::string& samples, const std::string& labels) {
    use(Format::kNpy, samples, labels);
  }
  void use_text(Format format, const std::string& text, std::uint32_t context) {
    recipe_.format = format;
    recipe_.path = at("a");
    recipe_.context = context;
    write("a", text);
  }

  ScratchFolder folder_;
  Recipe recipe_;
};

std::string three_labels() { return npy_text("<i8", "(3,)", raw_text<std::int64_t>({2, 0, 1})); }

TEST_F(OpenFiles, GivesIdxSamplesTheirShape) {
  const auto shape_of = [&](std::vector<std::uint32_t> extents) {
    std::size_t size = 1;
    for (const auto extent : extents) size *= extent;
    use(Format::kIdx, idx_text(extents, std::string(size, 'x')), idx_text({2}, "\1\2"));
    return opened()->space().sample_shape;
  };

  EXPECT_EQ(shape_of({2}), Shape({1}));
  EXPECT_EQ(shape_of({2, 5}), Shape({5}));
  EXPECT_EQ(shape_of({2, 3, 4}), Shape({1, 3, 4}));
  EXPECT_EQ(shape_of({2, 3, 4, 5}), Shape({3, 4, 5}));
}

TEST_F(OpenFiles, GivesNpySamplesTheirShape) {
  const auto shape_of = [&](const std::string& descr, const std::string& shape, std::size_t bytes) {
    use_npy(npy_text(descr, shape, std::string(bytes, 'x')), npy_text("|u1", "(2, 1)", "\1\2"));
    return opened()->space().sample_shape;
  };

  EXPECT_EQ(shape_of("<f4", "(2,)", 8), Shape({1}));
  EXPECT_EQ(shape_of("<f4", "(2, 5)", 40), Shape({5}));
  EXPECT_EQ(shape_of("<f4", "(2, 3, 4)", 96), Shape({3, 4}));
  EXPECT_EQ(shape_of("|u1", "(2, 3, 4)", 24), Shape({1, 3, 4}));
  EXPECT_EQ(shape_of("|u1", "(2, 3, 4, 5)", 120), Shape({3, 4, 5}));
}

TEST_F(OpenFiles, CountsClassesByTheLargestLabel) {
  use_npy(npy_text("<f4", "(3, 1)", raw_text<float>({1, 2, 3})), three_labels());

  const auto set = opened();

  EXPECT_EQ(set->space().class_count, 3u);
  EXPECT_EQ(set->space().train_count, 3u);
  EXPECT_EQ(set->space().eval_count, 0u);
  EXPECT_EQ(train_sample(*set, 0).labels[0], 2);
  EXPECT_EQ(train_sample(*set, 2).values, std::vector<float>{3});
  recipe_.class_count = 7;
  EXPECT_EQ(opened()->space().class_count, 7u);
}

TEST_F(OpenFiles, NormalisesInDouble) {
  recipe_.mean = 0.1;
  recipe_.deviation = 0.7;
  std::vector<std::int32_t> numbers;
  for (int i = -500; i < 500; ++i) numbers.push_back(i);
  use_npy(npy_text("<i4", "(1, 1000)", raw_text(numbers)), npy_text("|u1", "(1,)", "\1"));
  const auto of_ints = train_sample(*opened(), 0).values;
  // NumPy's: scripts/golden_npy.py.
  EXPECT_EQ(sha256(std::as_bytes(std::span(of_ints))).hex(),
            "05fc1fbcc5707866e73c708d455872d555c774d762c4348ad84139ce81a5540c");

  recipe_.mean = 0.25;
  recipe_.deviation = 3;
  std::vector<std::uint16_t> halves;
  for (unsigned half = 0; half < 65536; ++half) {
    const bool nan = (half & 0x7c00) == 0x7c00 && (half & 0x3ff) != 0;
    if (!nan) halves.push_back(static_cast<std::uint16_t>(half));
  }
  use_npy(npy_text("<f2", "(1, 63490)", raw_text(halves)), npy_text("|u1", "(1,)", "\1"));
  const auto of_halves = train_sample(*opened(), 0).values;
  EXPECT_EQ(sha256(std::as_bytes(std::span(of_halves))).hex(),
            "5341130d4eaf9836eb798e79f58acf76fad86fc931f9bfe3107474f1fa65a875");
}

TEST_F(OpenFiles, LetsStrangeFloatsThrough) {
  const auto inf = std::numeric_limits<float>::infinity();
  use_npy(npy_text("<f4", "(1, 3)", raw_text<float>({inf, -inf, std::nanf("")})),
          npy_text("<f4", "(1, 2)", raw_text<float>({std::nanf(""), -0.0f})));

  const auto sample = train_sample(*opened(), 0);

  EXPECT_EQ(sample.values[0], inf);
  EXPECT_TRUE(std::isnan(sample.values[2]));
  EXPECT_TRUE(std::isnan(sample.targets[0]));
  EXPECT_TRUE(std::signbit(sample.targets[1]));
}

TEST_F(OpenFiles, TakesFloatLabelsForTargetsOfRegression) {
  use_npy(npy_text("<i8", "(2, 1)", raw_text<std::int64_t>({-5, 1ll << 40})),
          npy_text("<f2", "(2, 2)", raw_text<std::uint16_t>({0x3c00, 0xc000, 0x0001, 0x7bff})));
  recipe_.class_count = 9;  // says nothing here

  const auto set = opened();

  EXPECT_EQ(set->space().class_count, 0u);
  EXPECT_EQ(set->space().target_count, 2u);
  EXPECT_EQ(train_sample(*set, 0).targets, (std::vector<float>{1, -2}));
  EXPECT_EQ(train_sample(*set, 1).targets, (std::vector<float>{0x1p-24f, 65504}));
  EXPECT_EQ(train_sample(*set, 1).values[0], 0x1p40f);
}

TEST_F(OpenFiles, NamesTheLabelThatIsOutOfRange) {
  const auto samples = npy_text("|u1", "(3,)", "abc");
  recipe_.class_count = 3;
  use_npy(samples, npy_text("<i4", "(3,)", raw_text<std::int32_t>({0, 3, 1})));
  expect_refused(Errc::kLabelOutOfRange, at("b"), "label 3 of sample 1 is not below 3");
  use_npy(samples, npy_text("<i8", "(3,)", raw_text<std::int64_t>({0, 2, -1})));
  expect_refused(Errc::kLabelOutOfRange, at("b"), "label -1 of sample 2 is negative");
  recipe_.class_count = 0;
  use_npy(samples, npy_text("<i8", "(3,)", raw_text<std::int64_t>({0, 2, -1})));
  expect_refused(Errc::kLabelOutOfRange, at("b"), "label -1 of sample 2 is negative");
  use_npy(samples, npy_text("<i8", "(3,)", raw_text<std::int64_t>({1ll << 33, 2, 0})));
  expect_refused(Errc::kLabelOutOfRange, at("b"), "label 8589934592 of sample 0");
}

TEST_F(OpenFiles, RefusesLabelsThatDoNotFit) {
  const auto samples = npy_text("|u1", "(3,)", "abc");
  use_npy(samples, npy_text("|u1", "(4,)", "\1\1\1\1"));
  expect_refused(Errc::kSamplesCorrupt, at("b"), "4 labels for 3 samples");
  use_npy(samples, npy_text("|u1", "(3, 2)", "\1\1\1\1\1\1"));
  expect_refused(Errc::kSamplesCorrupt, at("b"), "2 labels for a sample");
  use_npy(samples, npy_text("<f4", "(3, 1, 1)", std::string(12, '\0')));
  expect_refused(Errc::kSamplesCorrupt, at("b"), "3 × 1 × 1");
  use_npy(samples, npy_text("<f4", "(3, 0)", ""));
  expect_refused(Errc::kSamplesCorrupt, at("b"), "0 values for a sample");
  use_npy(npy_text("<f4", "()", "abcd"), three_labels());
  expect_refused(Errc::kSamplesCorrupt, at("a"), "one value");
  use_npy(npy_text("<f4", "(3, 0)", ""), three_labels());
  expect_refused(Errc::kSamplesCorrupt, at("a"), "no values");
  use_npy(npy_text("<f4", "(0, 3)", ""), npy_text("|u1", "(0,)", ""));
  expect_refused(Errc::kTooFewSamples, at("a"), "no samples");
}

TEST_F(OpenFiles, RefusesMissingFilesAndRecipesThatCannotBe) {
  use_npy(npy_text("|u1", "(3,)", "abc"), three_labels());
  std::filesystem::remove(at("b"));
  expect_refused(Errc::kSamplesMissing, at("b"), "No such file");
  recipe_.labels = "";
  expect_refused(Errc::kSamplesMissing, at("a"), "no labels");
  recipe_.path = "";
  expect_refused(Errc::kSamplesMissing, "", "no path");

  recipe_.deviation = 0;
  expect_refused(Errc::kOutOfRange, "", "deviation 0");
  recipe_.deviation = 1;
  recipe_.eval_fraction = 1;
  expect_refused(Errc::kOutOfRange, "", "fraction");
  recipe_.eval_fraction = 0.5;
  recipe_.eval_path = at("a");
  expect_refused(Errc::kOutOfRange, "", "either");
  recipe_ = {};
  recipe_.format = Format::kText;
  expect_refused(Errc::kOutOfRange, "", "context");
}

TEST_F(OpenFiles, FindsPackedIdxAndTextFiles) {
  recipe_.format = Format::kIdx;
  recipe_.path = at("images");
  recipe_.labels = at("labels.gz");
  write_gzip(at("images.gz"), idx_text({2, 3}, "abcdef"));
  write_gzip(at("labels.gz"), idx_text({2}, "\1\2"));
  EXPECT_EQ(opened()->space().class_count, 3u);

  recipe_ = {};
  recipe_.format = Format::kText;
  recipe_.path = at("text");
  recipe_.context = 2;
  write_gzip(at("text.gz"), "abcde");
  EXPECT_THAT(train_sample(*opened(), 1).tokens, ElementsAre('c', 'd'));
}

TEST_F(OpenFiles, UnpacksATextAgainThatWasCutShort) {
  recipe_.format = Format::kText;
  recipe_.path = at("text.gz");
  recipe_.context = 2;
  write_gzip(at("text.gz"), "abcdefghi");
  const auto whole = opened()->space().sha256;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ / "cache")) {
    if (entry.path().filename() == "text") std::filesystem::resize_file(entry.path(), 5);
  }

  EXPECT_EQ(opened()->space().sha256, whole);
}

TEST_F(OpenFiles, CutsTextIntoSamplesThatShareTheirEnds) {
  use_text(Format::kText, "abcdefgh", 3);

  const auto set = opened();

  EXPECT_TRUE(set->space().tokens);
  EXPECT_EQ(set->space().train_count, 2u);  // abc·d, def·g; of gh there is no third
  EXPECT_EQ(set->space().class_count, 256u);
  EXPECT_EQ(set->space().target_count, 3u);
  EXPECT_EQ(set->space().sample_shape, Shape({3}));
  EXPECT_THAT(train_sample(*set, 0).tokens, ElementsAre('a', 'b', 'c'));
  EXPECT_THAT(train_sample(*set, 0).labels, ElementsAre('b', 'c', 'd'));
  EXPECT_THAT(train_sample(*set, 1).tokens, ElementsAre('d', 'e', 'f'));
  EXPECT_THAT(train_sample(*set, 1).labels, ElementsAre('e', 'f', 'g'));
}

TEST_F(OpenFiles, ReadsTokensAsNanoGptWritesThem) {
  use_text(Format::kTokens, raw_text<std::uint16_t>({0, 50256, 7, 65535, 3}), 2);
  const auto set = opened();
  EXPECT_EQ(set->space().class_count, 65536u);
  EXPECT_THAT(train_sample(*set, 0).tokens, ElementsAre(0, 50256));
  EXPECT_THAT(train_sample(*set, 1).labels, ElementsAre(65535, 3));

  use_text(Format::kTokens, raw_text<std::uint16_t>({0, 256, 7}), 2);
  EXPECT_EQ(opened()->space().class_count, 257u);
  use_text(Format::kTokens, "abcde", 2);
  expect_refused(Errc::kSamplesCorrupt, at("a"), "5 bytes");
}

TEST_F(OpenFiles, NeedsATokenMoreThanTheContext) {
  use_text(Format::kText, "abc", 3);
  expect_refused(Errc::kTooFewSamples, at("a"), "3 tokens");
  use_text(Format::kText, "", 3);
  expect_refused(Errc::kTooFewSamples, at("a"), "0 tokens");
  use_text(Format::kText, "abcd", 3);
  EXPECT_EQ(opened()->space().train_count, 1u);
}

TEST_F(OpenFiles, HoldsOutTheEndOfATextInWholeSamples) {
  use_text(Format::kText, "abcdefghijk", 2);
  recipe_.eval_fraction = 0.4;

  const auto set = opened();

  EXPECT_EQ(set->space().train_count, 3u);
  EXPECT_EQ(set->space().eval_count, 2u);
  EXPECT_THAT(eval_sample(*set, 0).tokens, ElementsAre('g', 'h'));
  EXPECT_THAT(eval_sample(*set, 1).labels, ElementsAre('j', 'k'));
}

TEST_F(OpenFiles, HoldsOutSpacedSamplesOfArrays) {
  use_npy(npy_text("<i4", "(8,)", raw_text<std::int32_t>({0, 1, 2, 3, 4, 5, 6, 7})),
          npy_text("|u1", "(8,)", std::string("\0\1\2\3\4\5\6\7", 8)));
  recipe_.eval_fraction = 0.25;

  const auto set = opened();

  EXPECT_EQ(set->space().class_count, 8u);
  EXPECT_EQ(set->space().train_count, 6u);
  EXPECT_EQ(eval_sample(*set, 0).values[0], 2);  // the middles of two stretches of four
  EXPECT_EQ(eval_sample(*set, 1).labels[0], 6);
  EXPECT_EQ(train_sample(*set, 2).values[0], 3);
  EXPECT_EQ(train_sample(*set, 5).labels[0], 7);
  recipe_.eval_fraction = 0.1;
  expect_refused(Errc::kTooFewSamples, at("a"), "8 samples are too few to hold out 0.1");
}

TEST_F(OpenFiles, TakesHeldOutSamplesFromFilesOfTheirOwn) {
  use_npy(npy_text("|u1", "(3, 2)", "abcdef"), three_labels());
  recipe_.eval_path = at("c");
  recipe_.eval_labels = at("d");
  write("c", npy_text("|u1", "(1, 2)", "xy"));
  write("d", npy_text("<i8", "(1,)", raw_text<std::int64_t>({4})));
  EXPECT_EQ(opened()->space().eval_count, 1u);
  EXPECT_EQ(opened()->space().class_count, 5u);  // the largest of both
  EXPECT_EQ(eval_sample(*opened(), 0).labels[0], 4);

  recipe_.class_count = 3;
  expect_refused(Errc::kLabelOutOfRange, at("d"), "label 4 of sample 0");
  write("d", npy_text("<i4", "(1,)", raw_text<std::int32_t>({1})));
  expect_refused(Errc::kSamplesCorrupt, at("d"), "another type");
  write("c", npy_text("|u1", "(1, 3)", "xyz"));
  expect_refused(Errc::kSamplesCorrupt, at("c"), "samples of 3, those to train on have 2");
  recipe_.eval_labels = "";
  expect_refused(Errc::kSamplesMissing, at("c"), "no labels");
}

TEST_F(OpenFiles, NamesTheSameNumbersAlikeWhateverTheFormat) {
  use(Format::kIdx, idx_text({3, 2, 2}, "abcdefghijkl"), idx_text({3}, "\1\2\1"));
  const auto idx = opened();
  use_npy(npy_text("|u1", "(3, 2, 2)", "abcdefghijkl"), npy_text("|u1", "(3,)", "\1\2\1"));
  const auto npy = opened();

  EXPECT_EQ(idx->space().sha256, npy->space().sha256);
}

TEST_F(OpenFiles, RemembersNothingThatTheRecipeChanges) {
  use_text(Format::kText, "abcdefghijklmnopqrstuvwxyz", 2);
  const auto first = opened()->space();
  recipe_.context = 3;
  const auto wider = opened()->space();
  recipe_.eval_fraction = 0.25;
  const auto held = opened()->space();
  recipe_.format = Format::kTokens;
  const auto tokens = opened()->space();

  EXPECT_EQ(first.train_count, 12u);
  EXPECT_EQ(wider.train_count, 8u);
  EXPECT_EQ(held.train_count, 6u);
  EXPECT_EQ(tokens.train_count, 3u);
  EXPECT_NE(wider.sha256, held.sha256);
}

TEST_F(OpenFiles, NoticesFilesThatChange) {
  use_npy(npy_text("|u1", "(3,)", "abc"), three_labels());
  const auto set = opened();
  EXPECT_TRUE(set->unchanged());
  const auto expect_changed = [&](const std::string& why) {
    const auto same = set->unchanged();
    ASSERT_FALSE(same) << why;
    EXPECT_EQ(same.error().code, Errc::kSamplesChanged);
    EXPECT_THAT(same.error().detail, AllOf(HasSubstr(at("b")), HasSubstr(why)));
  };

  const auto time = std::filesystem::last_write_time(at("b"));
  std::filesystem::last_write_time(at("b"), time + std::chrono::seconds(1));
  expect_changed("written to");
  std::filesystem::last_write_time(at("b"), time);
  EXPECT_TRUE(set->unchanged());
  std::filesystem::copy_file(at("b"), at("other"));
  std::filesystem::last_write_time(at("other"), time);
  std::filesystem::rename(at("other"), at("b"));
  expect_changed("another file");
  std::filesystem::remove(at("b"));
  expect_changed("no longer there");
}

TEST_F(OpenFiles, NoticesPackedFilesThatChange) {
  recipe_.format = Format::kText;
  recipe_.path = at("text.gz");
  recipe_.context = 2;
  write_gzip(at("text.gz"), "abcde");
  const auto set = opened();
  EXPECT_TRUE(set->unchanged());

  write_gzip(at("text.gz"), "vwxyz and more");

  ASSERT_FALSE(set->unchanged());
  EXPECT_THAT(set->unchanged().error().detail, HasSubstr("text.gz"));
}

TEST_F(OpenFiles, LendsChunksAndRecords) {
  use(Format::kIdx, idx_text({3, 2}, "abcdef"), idx_text({3}, "\1\2\3"));
  const auto set = opened();
  const auto* library = set->library();
  ASSERT_NE(library, nullptr);
  std::vector<std::span<const std::byte>> runs;

  library->announce(0);
  library->add_train_record(1, runs);

  EXPECT_EQ(library->manifest().space.sha256, set->space().sha256);
  EXPECT_EQ(sha256(library->chunk(0)), sha256("abcdef"));
  EXPECT_EQ(sha256(library->chunk(1)), library->manifest().chunks[1]);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(sha256(runs[0]), sha256("cd"));
  EXPECT_EQ(sha256(runs[1]), sha256("\2"));
}

TEST_F(OpenFiles, AbortsOnASampleThatIsNotThere) {
  use(Format::kIdx, idx_text({3, 2}, "abcdef"), idx_text({3}, "\1\2\3"));
  const auto set = opened();

  EXPECT_DEATH(train_sample(*set, 3), "no such sample");
  EXPECT_DEATH(eval_sample(*set, 0), "no such sample");
}

}  // namespace
}  // namespace wide::data
