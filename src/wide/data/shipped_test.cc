// Samples are the same numbers wherever their bytes come from: mapped files, fetched chunks, or a
// lease that carried them.

#include "wide/data/shipped.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "wide/data/library.h"
#include "wide/data/loaded_sample.h"
#include "wide/data/scratch_folder.h"

namespace wide::data {
namespace {

using ::testing::HasSubstr;

std::string noise(std::size_t bytes) {
  std::string text(bytes, '\0');
  std::uint32_t state = 1;
  for (auto& letter : text) {
    state = state * 1664525 + 1013904223;
    letter = static_cast<char>(state >> 24);
  }
  return text;
}

std::string small_labels(std::size_t count) {
  auto labels = noise(count);
  for (auto& label : labels) label = static_cast<char>(label & 7);
  return labels;
}

// A recipe and its files, several chunks of them.
struct Example {
  std::string name;
  Recipe recipe;
};

class Travel : public ::testing::Test {
 protected:
  Recipe arrays(Format format, const std::string& samples, const std::string& labels) {
    const auto number = std::to_string(++file_count_);
    Recipe recipe;
    recipe.format = format;
    recipe.path = folder_ / ("samples-" + number);
    recipe.labels = folder_ / ("labels-" + number);
    recipe.mean = 0.4;
    recipe.deviation = 0.3;
    write_text(recipe.path, samples);
    write_text(recipe.labels, labels);
    return recipe;
  }
  Recipe text(Format format, const std::string& content, std::uint32_t context) {
    Recipe recipe;
    recipe.format = format;
    recipe.path = folder_ / ("text-" + std::to_string(++file_count_));
    recipe.context = context;
    write_text(recipe.path, content);
    return recipe;
  }
  static Recipe with_fraction(Recipe recipe, double fraction) {
    recipe.eval_fraction = fraction;
    return recipe;
  }
  static Recipe with_eval(Recipe recipe, const Recipe& eval) {
    recipe.eval_path = eval.path;
    recipe.eval_labels = eval.labels;
    return recipe;
  }
  std::vector<Example> examples();

  ScratchFolder folder_;
  int file_count_ = 0;
};

std::vector<Example> Travel::examples() {
  const auto images = [&](std::uint32_t count) {
    return arrays(Format::kIdx, idx_text({count, 30, 30}, noise(count * 900)),
                  idx_text({count}, small_labels(count)));
  };
  const auto halves = arrays(Format::kNpy, npy_text("<f2", "(300, 5000)", noise(3'000'000)),
                             npy_text("<f2", "(300, 3)", noise(1800)));
  const auto floats = arrays(Format::kNpy, npy_text("<f4", "(3000, 100)", noise(1'200'000)),
                             npy_text("<f4", "(3000,)", noise(12'000)));
  const auto longs = arrays(Format::kNpy, npy_text("<i8", "(3000, 50)", noise(1'200'000)),
                            npy_text("|u1", "(3000,)", small_labels(3000)));
  const auto ints = arrays(Format::kNpy, npy_text("<i4", "(500, 7, 100)", noise(1'400'000)),
                           npy_text("|u1", "(500, 1)", small_labels(500)));
  return {{"idx", images(4000)},
          {"idx, a fraction", with_fraction(images(3000), 0.3)},
          {"idx, files", with_eval(images(2000), images(1500))},
          {"halves", halves},
          {"floats, a fraction", with_fraction(floats, 0.11)},
          {"longs", longs},
          {"ints, a fraction", with_fraction(ints, 0.9)},
          {"text", text(Format::kText, noise(3'000'000), 1000)},
          {"text, a fraction", with_fraction(text(Format::kText, noise(2'500'000), 77), 0.2)},
          {"tokens", text(Format::kTokens, noise(3'000'000), 512)},
          {"tokens, files", with_eval(text(Format::kTokens, noise(2'000'000), 100),
                                      text(Format::kTokens, noise(1'500'000), 100))}};
}

BufferPtr buffer_of(std::span<const std::byte> bytes) {
  auto buffer = std::make_shared<Buffer>(bytes.size());
  std::memcpy(buffer->begin(), bytes.data(), bytes.size());
  return buffer;
}

// Calls compare(held_out, index) for every sample.
template <class Compare>
void for_every_sample(const SampleSpace& space, Compare compare) {
  for (std::uint64_t i = 0; i < space.train_count; ++i) compare(false, i);
  for (std::uint64_t i = 0; i < space.eval_count; ++i) compare(true, i);
}

LoadedSample load(const Dataset& set, bool held_out, std::uint64_t index) {
  return held_out ? eval_sample(set, index) : train_sample(set, index);
}

TEST_F(Travel, ByChunksGivesTheSameNumbers) {
  for (const auto& [name, recipe] : examples()) {
    SCOPED_TRACE(name);
    const auto mapped = open_files(recipe, {}).value();
    const auto& library = *mapped->library();
    auto manifest = decode_manifest(encode_manifest(library.manifest())).value();
    EXPECT_EQ(manifest.space.sha256, mapped->space().sha256);
    const auto chunk_count = manifest.space.chunk_count;
    EXPECT_GT(chunk_count, 1u);
    const auto shelf = std::make_shared<ChunkShelf>(
        std::make_shared<const Manifest>(std::move(manifest)),
        std::make_shared<ChunkCache>(folder_ / "chunks", 1u << 30), ChunkShelf::Options{});
    for (std::uint64_t chunk = 0; chunk < chunk_count; ++chunk) {
      const auto buffer = buffer_of(library.chunk(chunk));
      ASSERT_TRUE(shelf->put(chunk, buffer, buffer->first(library.chunk(chunk).size())));
    }

    const auto shipped = make_shipped(recipe, shelf).value();

    std::uint64_t same_count = 0;
    for_every_sample(mapped->space(), [&](bool held_out, std::uint64_t index) {
      std::vector<std::uint64_t> chunks;
      held_out ? add_chunks_of_eval(shelf->manifest(), index, chunks)
               : add_chunks_of_train(shelf->manifest(), index, chunks);
      const auto held = shelf->hold(chunks);
      same_count += held && load(*mapped, held_out, index) == load(*shipped, held_out, index);
    });
    EXPECT_EQ(same_count, mapped->space().train_count + mapped->space().eval_count);
  }
}

TEST_F(Travel, WithALeaseGivesTheSameNumbers) {
  for (const auto& [name, recipe] : examples()) {
    SCOPED_TRACE(name);
    const auto mapped = open_files(recipe, {}).value();
    const auto& library = *mapped->library();
    const auto carried =
        make_carried(recipe, std::make_shared<const Manifest>(library.manifest())).value();

    std::uint64_t same_count = 0;
    for_every_sample(mapped->space(), [&](bool held_out, std::uint64_t index) {
      std::vector<std::span<const std::byte>> runs;
      held_out ? library.add_eval_record(index, runs) : library.add_train_record(index, runs);
      std::vector<std::byte> joined;
      for (const auto run : runs) joined.insert(joined.end(), run.begin(), run.end());
      const auto buffer = buffer_of(joined);
      const auto held =
          carried->hold(held_out, std::span(&index, 1), buffer, buffer->first(joined.size()));
      same_count += held && load(*mapped, held_out, index) == load(*carried, held_out, index);
    });
    EXPECT_EQ(same_count, mapped->space().train_count + mapped->space().eval_count);
  }
}

// Two rows of two bytes, with labels.
class Carrying : public Travel {
 protected:
  Carrying() {
    recipe_ = arrays(Format::kIdx, idx_text({2, 2}, "abcd"), idx_text({2}, "\1\2"));
    manifest_ =
        std::make_shared<const Manifest>(open_files(recipe_, {}).value()->library()->manifest());
    carried_ = make_carried(recipe_, manifest_).value();
  }
  Result<CarriedSamples::Hold> hold(std::vector<std::uint64_t> indices, const std::string& bytes,
                                    bool held_out = false) {
    const auto buffer = buffer_of(std::as_bytes(std::span(bytes)));
    return carried_->hold(held_out, indices, buffer, buffer->first(bytes.size()));
  }

  Recipe recipe_;
  std::shared_ptr<const Manifest> manifest_;
  std::shared_ptr<CarriedSamples> carried_;
};

TEST_F(Carrying, RefusesWhatDoesNotFit) {
  EXPECT_TRUE(hold({0, 1}, "ab\1cd\2"));
  EXPECT_TRUE(hold({}, ""));
  for (const auto& bytes : {"ab\1cd", "ab\1cd\2x", "", "ab\1"}) {
    const auto held = hold({0, 1}, bytes);
    ASSERT_FALSE(held);
    EXPECT_EQ(held.error().code, Errc::kBadFrame);
  }
  EXPECT_EQ(hold({2}, "ab\1").error().code, Errc::kBadFrame);
  EXPECT_EQ(hold({0}, "ab\1", true).error().code, Errc::kBadFrame);
}

// The hash only proves that a label is what the pool has; it would be an index into memory.
TEST_F(Carrying, RefusesALabelThatNobodyCouldHaveCounted) {
  const auto held = hold({0, 1}, "ab\1cd\7").value();

  EXPECT_EQ(train_sample(*carried_, 0).labels[0], 1);
  try {
    train_sample(*carried_, 1);
    FAIL() << "7 is no class of three";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, Errc::kLabelOutOfRange);
  }
}

TEST_F(Carrying, KeepsASampleUntilTheLastLeaseWithItIsLetGo) {
  auto one = hold({0, 1}, "ab\1cd\2").value();
  auto other = hold({1}, "cd\2").value();

  one.reset();

  EXPECT_EQ(train_sample(*carried_, 1).labels[0], 2);
  EXPECT_DEATH(train_sample(*carried_, 0), "did not come with a lease");
  other.reset();
  EXPECT_DEATH(train_sample(*carried_, 1), "did not come with a lease");
}

TEST_F(Carrying, LeasesMayOutliveTheSet) {
  const auto held = hold({0}, "ab\1").value();

  carried_.reset();

  EXPECT_NE(held, nullptr);
}

TEST_F(Carrying, RefusesAManifestOfAnotherKind) {
  for (const auto format : {Format::kText, Format::kTokens, Format::kFashionMnist}) {
    recipe_.format = format;
    const auto made = make_carried(recipe_, manifest_);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, Errc::kSamplesCorrupt);
    EXPECT_THAT(made.error().detail, HasSubstr("its samples are not"));
    const auto shelf = std::make_shared<ChunkShelf>(
        manifest_, std::make_shared<ChunkCache>(std::filesystem::path(), 0), ChunkShelf::Options{});
    EXPECT_FALSE(make_shipped(recipe_, shelf));
  }
  recipe_.format = Format::kNpy;
  EXPECT_TRUE(make_carried(recipe_, manifest_));
}

}  // namespace
}  // namespace wide::data
