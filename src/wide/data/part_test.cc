#include "wide/data/part.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

namespace wide::data {
namespace {

rc::Gen<Part> any_part() {
  return rc::gen::exec([] {
    const auto type = *rc::gen::element(ElementType::kU8, ElementType::kU16, ElementType::kI32,
                                        ElementType::kI64, ElementType::kF16, ElementType::kF32);
    const auto elements = *rc::gen::inRange<std::uint64_t>(2, 300'000);
    const auto stride = elements - *rc::gen::inRange<std::uint64_t>(0, 2);
    const auto count = *rc::gen::inRange<std::uint64_t>(1, 5000);
    return make_part(type, count, elements, stride, *rc::gen::inRange<std::uint64_t>(0, 9)).value();
  });
}

RC_GTEST_PROP(Part, ChunksCoverEveryRecord, ()) {
  const auto part = *any_part();

  for (std::uint64_t record = 0; record < part.count; ++record) {
    const auto chunk = part.chunk_of(record);
    const auto begin = record * part.stride_bytes();
    RC_ASSERT(chunk >= part.first_chunk && chunk < part.first_chunk + part.chunk_count());
    RC_ASSERT(begin >= part.chunk_begin(chunk));
    RC_ASSERT(begin + part.record_bytes() <= part.chunk_begin(chunk) + part.chunk_bytes(chunk));
  }
}

// Neighbouring chunks share just what neighbouring records share, and the last ends with the part.
RC_GTEST_PROP(Part, ChunksLieSideBySide, ()) {
  const auto part = *any_part();
  const auto shared = part.record_bytes() - part.stride_bytes();
  const auto last = part.first_chunk + part.chunk_count() - 1;

  RC_ASSERT(part.chunk_begin(part.first_chunk) == 0u);
  for (auto chunk = part.first_chunk; chunk < last; ++chunk) {
    RC_ASSERT(part.chunk_begin(chunk) + part.chunk_bytes(chunk) ==
              part.chunk_begin(chunk + 1) + shared);
    RC_ASSERT(part.chunk_bytes(chunk) <= std::max(kChunkBytes, part.record_bytes()));
  }
  RC_ASSERT(part.chunk_begin(last) + part.chunk_bytes(last) == part.bytes());
}

TEST(MakePart, FillsChunksUpToAMebibyte) {
  const auto images = make_part(ElementType::kU8, 60'000, 784, 784, 0).value();
  EXPECT_EQ(images.records_per_chunk, 1337u);  // 2^20 / 784
  EXPECT_EQ(images.chunk_count(), 45u);

  const auto text = make_part(ElementType::kU8, 8, (1u << 19) + 1, 1u << 19, 3).value();
  EXPECT_EQ(text.records_per_chunk, 1u);  // two would have one byte more than a chunk
  EXPECT_EQ(text.chunk_of(7), 10u);
}

TEST(MakePart, MakesChunksOfLargeRecordsAndOfVeryManyLarger) {
  EXPECT_EQ(make_part(ElementType::kF32, 3, 16u << 20, 16u << 20, 0).value().records_per_chunk, 1u);

  const auto huge = make_part(ElementType::kU8, std::uint64_t{1} << 40, 1, 1, 0).value();
  EXPECT_EQ(huge.chunk_bytes(0), 4u << 20);
  EXPECT_EQ(huge.chunk_count(), 1u << 18);
}

TEST(MakePart, RefusesWhatCannotBeCut) {
  const auto many = std::numeric_limits<std::uint64_t>::max();

  EXPECT_FALSE(make_part(ElementType::kU8, 1, (64u << 20) + 1, 1, 0));
  EXPECT_FALSE(make_part(ElementType::kF32, 1, many / 4 + 2, 1, 0));
  EXPECT_FALSE(make_part(ElementType::kI64, many / 8 + 2, 1, 1, 0));
  EXPECT_FALSE(make_part(ElementType::kU8, 0, 1, 1, 0));
  EXPECT_FALSE(make_part(ElementType::kU8, 1, 0, 0, 0));
  EXPECT_FALSE(make_part(ElementType::kU8, 1, 1, 2, 0));
}

}  // namespace
}  // namespace wide::data
