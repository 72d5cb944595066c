#include "wide/base/buffer.h"

#include <gtest/gtest.h>

#include <thread>

namespace wide {
namespace {

bool is_aligned(const void* place) { return reinterpret_cast<std::uintptr_t>(place) % 64 == 0; }

TEST(BufferPool, GivesAlignedBuffersOfAtLeastTheSize) {
  BufferPool pool;
  for (const std::size_t bytes : {0u, 1u, 300u, 65536u, 65537u, 1000000u}) {
    const BufferPtr buffer = pool.take(bytes);

    EXPECT_GE(buffer->capacity_bytes(), bytes);
    EXPECT_LE(buffer->capacity_bytes(), std::max<std::size_t>(256, bytes * 2));
    EXPECT_TRUE(is_aligned(buffer->begin()));
  }
}

TEST(BufferPool, ReusesAFreedBufferOfTheSameClass) {
  BufferPool pool;
  BufferPtr first = pool.take(1000);
  const std::byte* const place = first->begin();
  first.reset();

  EXPECT_EQ(pool.take(900)->begin(), place);
}

TEST(BufferPool, DoesNotReuseABufferInUse) {
  BufferPool pool;
  const BufferPtr first = pool.take(1000);

  EXPECT_NE(pool.take(1000)->begin(), first->begin());
}

TEST(BufferPool, WastesLittleOnLargeBuffers) {
  BufferPool pool;

  EXPECT_LE(pool.take(9000000)->capacity_bytes(), 9000000u * 9 / 8);
}

TEST(BufferPool, KeepsNothingAboveItsMeasure) {
  BufferPool pool(0);
  std::weak_ptr<Buffer> freed = pool.take(100);

  EXPECT_TRUE(freed.expired());
}

TEST(BufferPool, BuffersMayOutliveIt) {
  BufferPtr buffer;
  {
    BufferPool pool;
    buffer = pool.take(100);
  }
  buffer->begin()[99] = std::byte{1};

  buffer.reset();
}

TEST(BufferPool, IsSafeOnManyThreads) {
  BufferPool pool;
  const auto churn = [&pool] {
    for (int i = 0; i < 2000; ++i) {
      const BufferPtr buffer = pool.take(static_cast<std::size_t>(i));
      buffer->begin()[0] = std::byte{1};
    }
  };

  std::thread other(churn);
  churn();
  other.join();
}

TEST(Floats, KeepTheirOwnerAlive) {
  BufferPool pool;
  Floats floats = take_floats(pool, 3);
  floats.values[2] = 1.5f;

  const Floats copy = floats;
  floats = {};

  EXPECT_EQ(copy.values[2], 1.5f);
  EXPECT_EQ(copy.size(), 3u);
  EXPECT_EQ(copy.bytes().size(), 12u);
}

}  // namespace
}  // namespace wide
