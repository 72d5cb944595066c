#include "wide/data/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstring>
#include <limits>

namespace wide::data {
namespace {

using ::testing::HasSubstr;

// Adds a part behind the others.
void add_part(Manifest& manifest, PartPlace place, ElementType type, std::uint64_t count,
              std::uint64_t elements, std::uint64_t stride) {
  std::uint64_t first_chunk = 0;
  for (const auto& part : manifest.parts) first_chunk += part.chunk_count();
  manifest.parts[place] = make_part(type, count, elements, stride, first_chunk).value();
}

Manifest finish(Manifest manifest) {
  const HoldOut held(manifest.parts[kTrainSamples].count, manifest.eval_fraction,
                     manifest.space.tokens ? HoldOut::Place::kAtEnd : HoldOut::Place::kSpaced);
  manifest.space.train_count = held.train_count();
  manifest.space.eval_count = held.eval_count() + manifest.parts[kEvalSamples].count;
  EXPECT_TRUE(settle_manifest(manifest));
  for (std::uint64_t i = 0; i < manifest.space.chunk_count; ++i) {
    manifest.chunks.push_back(sha256(std::to_string(i)));
  }
  manifest.space.sha256 = manifest_root(manifest);
  return manifest;
}

Manifest images(std::uint64_t count, std::uint64_t eval_count, double fraction) {
  Manifest manifest;
  manifest.space.sample_shape = {1, 28, 28};
  manifest.space.class_count = 10;
  manifest.eval_fraction = fraction;
  add_part(manifest, kTrainSamples, ElementType::kU8, count, 784, 784);
  add_part(manifest, kTrainTargets, ElementType::kU8, count, 1, 1);
  if (eval_count > 0) {
    add_part(manifest, kEvalSamples, ElementType::kU8, eval_count, 784, 784);
    add_part(manifest, kEvalTargets, ElementType::kU8, eval_count, 1, 1);
  }
  return finish(std::move(manifest));
}

Manifest text(std::uint64_t count, std::uint32_t context, double fraction) {
  Manifest manifest;
  manifest.space.tokens = true;
  manifest.space.sample_shape = {context};
  manifest.space.target_count = context;
  manifest.space.class_count = 50'000;
  manifest.eval_fraction = fraction;
  add_part(manifest, kTrainSamples, ElementType::kU16, count, context + 1, context);
  return finish(std::move(manifest));
}

rc::Gen<Manifest> any_manifest() {
  return rc::gen::exec([] {
    const auto count = *rc::gen::inRange<std::uint64_t>(1, 20'000);
    const bool apart = *rc::gen::arbitrary<bool>();
    const auto fraction = apart ? 0.0 : *rc::gen::inRange(0, 99) / 100.0;
    if (*rc::gen::arbitrary<bool>()) {
      return images(count, apart ? *rc::gen::inRange<std::uint64_t>(1, 9000) : 0, fraction);
    }
    return text(count, *rc::gen::inRange<std::uint32_t>(1, 3000), fraction);
  });
}

void assert_same(const Manifest& one, const Manifest& other) {
  RC_ASSERT(one.parts == other.parts);
  RC_ASSERT(one.chunks == other.chunks);
  RC_ASSERT(one.eval_fraction == other.eval_fraction);
  RC_ASSERT(one.space.train_count == other.space.train_count);
  RC_ASSERT(one.space.eval_count == other.space.eval_count);
  RC_ASSERT(one.space.sample_shape == other.space.sample_shape);
  RC_ASSERT(one.space.class_count == other.space.class_count);
  RC_ASSERT(one.space.sha256 == other.space.sha256);
  RC_ASSERT(one.space.tokens == other.space.tokens);
  RC_ASSERT(one.space.target_count == other.space.target_count);
  RC_ASSERT(one.space.chunk_count == other.space.chunk_count);
  RC_ASSERT(one.space.samples_per_chunk == other.space.samples_per_chunk);
  RC_ASSERT(one.space.carried_bytes == other.space.carried_bytes);
}

RC_GTEST_PROP(Manifest, ComesBackFromItsBytes, ()) {
  const auto manifest = *any_manifest();

  const auto decoded = decode_manifest(encode_manifest(manifest));

  RC_ASSERT(decoded.has_value());
  assert_same(*decoded, manifest);
}

RC_GTEST_PROP(Manifest, FindsEverySampleInAChunkThatIsThere, ()) {
  const auto manifest = *any_manifest();
  const auto index = *rc::gen::inRange<std::uint64_t>(0, manifest.space.train_count);
  std::vector<std::uint64_t> chunks;

  add_chunks_of_train(manifest, index, chunks);
  if (manifest.space.eval_count > 0) {
    add_chunks_of_eval(manifest, manifest.space.eval_count - 1, chunks);
  }

  const std::size_t places = manifest.space.eval_count > 0 ? 2 : 1;
  RC_ASSERT(chunks.size() == places * (manifest.space.tokens ? 1 : 2));
  for (const auto chunk : chunks) {
    RC_ASSERT(chunk < manifest.space.chunk_count);
    RC_ASSERT(chunk_bytes(manifest, chunk) <= kChunkBytes);
  }
}

// Damage is refused, or gives a manifest with another root that still holds together.
RC_GTEST_PROP(Manifest, NeverBelievesDamage, ()) {
  const auto manifest = *any_manifest();
  auto bytes = encode_manifest(manifest);
  const auto at = *rc::gen::inRange<std::size_t>(0, bytes.size());
  bytes[at] ^= std::byte{*rc::gen::inRange<unsigned char>(1, 255)};

  const auto decoded = decode_manifest(bytes);

  if (!decoded) {
    RC_ASSERT(decoded.error().code == Errc::kSamplesCorrupt);
    return;
  }
  RC_ASSERT(decoded->space.sha256 != manifest.space.sha256);
  RC_ASSERT(encode_manifest(*decoded) == bytes);
}

TEST(DecodeManifest, RefusesEveryTruncationAndTail) {
  const auto whole = encode_manifest(images(5, 2, 0));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(decode_manifest(std::span(whole).first(size)));
  }
  auto longer = whole;
  longer.push_back({});
  EXPECT_FALSE(decode_manifest(longer));
  EXPECT_TRUE(decode_manifest(whole));
}

void expect_refused(Manifest manifest, const std::string& why) {
  const auto decoded = decode_manifest(encode_manifest(manifest));
  ASSERT_FALSE(decoded) << "should be refused: " << why;
  EXPECT_EQ(decoded.error().code, Errc::kSamplesCorrupt);
  EXPECT_THAT(decoded.error().detail, HasSubstr(why));
}

TEST(DecodeManifest, RefusesCountsThatLie) {
  const auto many = std::numeric_limits<std::uint64_t>::max();
  for (const std::uint64_t count : {many, many / 784, many / 784 + 1, std::uint64_t{1} << 52}) {
    auto lying = images(5, 0, 0);
    lying.parts[kTrainSamples].count = count;
    lying.parts[kTrainTargets].count = count;
    lying.space.train_count = count;
    expect_refused(lying, "manifest:");
  }
  auto lying = images(5, 0, 0);
  lying.parts[kTrainSamples].record_elements = many;
  expect_refused(lying, "more than 64 MiB");
  lying = images(5, 0, 0);
  lying.parts[kTrainSamples].records_per_chunk = 0;
  expect_refused(lying, "no elements");
  lying = images(200'000, 0, 0);
  lying.parts[kTrainSamples].records_per_chunk = many;
  expect_refused(lying, "chunks of");
  lying = images(5, 0, 0);
  lying.parts[kTrainTargets].first_chunk = 7;
  expect_refused(lying, "in a row");
  lying = images(5, 0, 0);
  lying.chunks.pop_back();
  expect_refused(lying, "1 hashes for 2 chunks");
}

TEST(DecodeManifest, RefusesPartsThatDoNotFitTheSpace) {
  auto bad = images(5, 0, 0);
  bad.space.sample_shape = {28, 27};
  expect_refused(bad, "shape");
  bad.space.sample_shape = {0};
  expect_refused(bad, "no values");
  bad.space.sample_shape = {};
  expect_refused(bad, "rank 0");
  bad.space.sample_shape = {1u << 31, 1u << 31, 4};
  expect_refused(bad, "too large");

  bad = images(5, 0, 0);
  bad.space.class_count = 0;
  expect_refused(bad, "no classes");
  bad = images(5, 0, 0);
  bad.space.train_count = 4;
  expect_refused(bad, "counts");
  bad = images(5, 0, 0);
  bad.eval_fraction = std::numeric_limits<double>::quiet_NaN();
  expect_refused(bad, "fraction");
  bad = images(5, 2, 0);
  bad.parts[kEvalTargets].count = 3;
  expect_refused(bad, "held-out targets");

  bad = text(5, 8, 0);
  bad.space.class_count = 65'537;
  expect_refused(bad, "vocabulary");
  bad = text(5, 8, 0);
  bad.space.target_count = 1;
  expect_refused(bad, "follow");
}

TEST(Manifest, SaysHowSamplesTravel) {
  const auto apart = images(60'000, 10'000, 0);
  EXPECT_EQ(apart.space.carried_bytes, 785u);
  EXPECT_EQ(apart.space.samples_per_chunk, 1337u);
  EXPECT_EQ(apart.space.chunk_count, 45u + 1 + 8 + 1);

  EXPECT_EQ(images(60'000, 0, 0.5).space.samples_per_chunk, 668u);  // half of them are held out
  EXPECT_EQ(images(3, 0, 0.5).space.samples_per_chunk, 2u);
  EXPECT_EQ(text(1000, 128, 0.1).space.carried_bytes, 258u);
}

}  // namespace
}  // namespace wide::data
