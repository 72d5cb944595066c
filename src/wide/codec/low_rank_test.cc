#include "wide/codec/low_rank.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "wide/codec/example_floats.h"
#include "wide/codec/example_targets.h"
#include "wide/codec/low_rank_kernels.h"

namespace wide::codec {
namespace {

using example::Kind;
using example::on_every_target;
using Values = std::vector<float>;
using Bytes = std::vector<std::byte>;

// A matrix that is a sum of `rank` products of a column and a row.
Values matrix_of_rank(std::size_t rows, std::size_t columns, std::size_t rank, float size = 1) {
  const Values left = example::floats(Kind::kNormal, rows * rank, 1);
  const Values right = example::floats(Kind::kNormal, columns * rank, 2);
  Values values(rows * columns);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (std::size_t c = 0; c < rank; ++c) {
        sum += 1e4 * double{left[i * rank + c]} * double{right[j * rank + c]};
      }
      values[i * columns + j] = static_cast<float>(sum) * size;
    }
  }
  return values;
}

double distance(const Values& a, const Values& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += (double{a[i]} - double{b[i]}) * (double{a[i]} - double{b[i]});
  }
  return std::sqrt(sum);
}
double length(const Values& values) { return distance(values, Values(values.size())); }

// One who encodes, step after step.
struct Coder {
  explicit Coder(LowRank codec)
      : low_rank(std::move(codec)),
        residual(low_rank.count()),
        memory(low_rank.memory_count()),
        coded(low_rank.coded_bytes()) {
    low_rank.begin(7, memory);
  }

  Values step(const Values& values) {
    low_rank.encode_with_feedback(values, residual, memory, coded);
    Values seen(values.size());
    EXPECT_TRUE(low_rank.decode(coded, seen));
    return seen;
  }

  LowRank low_rank;
  Values residual, memory;
  Bytes coded;
};

Coder coder_of(std::size_t rows, std::size_t columns) {
  return Coder(LowRank({{0, rows, columns}}));
}

TEST(LowRank, SizesFollowTheLayout) {
  // 40 × 30 is worth it: 4 × 70 floats. A bias of 9 and a matrix of 8 × 8 travel as they are.
  const LowRank low_rank({{0, 40, 30}, {1200, 9, 1}, {1209, 8, 8}});

  EXPECT_EQ(low_rank.count(), 1273u);
  EXPECT_EQ(low_rank.memory_count(), 120u);
  EXPECT_EQ(low_rank.coded_bytes(), 4u * (280 + 9 + 64));
}

TEST(LowRank, IsExactUpToItsRank) {
  for (std::size_t rank = 1; rank <= kRank; ++rank) {
    const Values values = matrix_of_rank(37, 53, rank);
    Coder coder = coder_of(37, 53);
    for (int step = 0; step < 3; ++step) {
      coder.residual.assign(values.size(), 0);
      EXPECT_LT(distance(coder.step(values), values), 2e-5 * length(values)) << rank << " " << step;
    }
  }
}

TEST(LowRank, KeepsItsStartThroughZeros) {
  const Values values = matrix_of_rank(37, 53, 4);
  Coder coder = coder_of(37, 53);
  const Values start = coder.memory;

  EXPECT_EQ(coder.step(Values(values.size(), -0.0f)), Values(values.size()));
  EXPECT_EQ(coder.memory, start);
  EXPECT_EQ(coder.coded, Bytes(coder.coded.size()));
  EXPECT_LT(distance(coder.step(values), values), 2e-5 * length(values));
}

TEST(LowRank, GrowsBackFromALowerRank) {
  const Values thin = matrix_of_rank(37, 53, 1), full = matrix_of_rank(37, 53, 4);
  Coder coder = coder_of(37, 53);
  for (int step = 0; step < 3; ++step) coder.step(thin);
  coder.residual.assign(full.size(), 0);

  EXPECT_LT(distance(coder.step(full), full), 1e-3 * length(full));
}

// With feedback, the sum of what is decoded follows the sum of what was meant, though the matrix
// has full rank: what is missing stays bounded, and the mean comes ever nearer.
TEST(LowRank, FeedbackCatchesUp) {
  const Values values = example::floats(Kind::kNormal, 40 * 30);
  Coder coder = coder_of(40, 30);
  Values sum(values.size());
  double last = 1;
  for (const int steps : {10, 100, 1000}) {
    coder.residual.assign(values.size(), 0);
    sum.assign(values.size(), 0);
    for (int step = 0; step < steps; ++step) {
      const Values seen = coder.step(values);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += seen[i] / static_cast<float>(steps);
    }
    const double off = distance(sum, values) / length(values);
    EXPECT_LT(off, last * 0.9) << steps;
    last = off;
  }
  EXPECT_LT(last, 0.02);
}

TEST(LowRank, FindsTheLargestPartsOfAFixedMatrix) {
  Values values = matrix_of_rank(60, 50, 4);
  const Values noise = example::floats(Kind::kNormal, values.size(), 9);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] += noise[i];
  Coder coder = coder_of(60, 50);
  double off = 0;
  for (int step = 0; step < 5; ++step) {
    coder.residual.assign(values.size(), 0);
    off = distance(coder.step(values), values);
  }

  EXPECT_LT(off, length(noise));  // no more is missing than what is not of rank 4
}

TEST(LowRank, ResidualIsWhatWasLost) {
  const Values values = example::floats(Kind::kHeavy, 40 * 30);
  const Values before = example::floats(Kind::kNormal, 40 * 30);
  Coder coder = coder_of(40, 30);
  coder.residual = before;

  const Values seen = coder.step(values);

  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(coder.residual[i], (values[i] + before[i]) - seen[i]);
  }
}

TEST(LowRank, WorksAtEverySizeOfValues) {
  for (const float size : {1e-30f, 1e-18f, 1e15f, 1e30f}) {
    const Values values = matrix_of_rank(37, 53, 2, size);
    Coder coder = coder_of(37, 53);
    for (int step = 0; step < 3; ++step) {
      coder.residual.assign(values.size(), 0);
      EXPECT_LT(distance(coder.step(values), values), 1e-4 * length(values)) << size;
    }
  }
}

TEST(LowRank, NansFillTheirMatrixAndNoOther) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    Coder coder(LowRank({{0, 20, 20}, {400, 20, 20}}));
    const Values start = coder.memory;
    Values values = example::floats(Kind::kNormal, 800);
    values[17] = bad;

    const Values seen = coder.step(values);

    for (std::size_t i = 0; i < 800; ++i) {
      EXPECT_EQ(std::isnan(seen[i]), i < 400) << i;
      EXPECT_EQ(std::isnan(coder.residual[i]), i < 400) << i;
    }
    EXPECT_TRUE(std::equal(start.begin(), start.begin() + 80, coder.memory.begin()));
    for (const float value : coder.memory) EXPECT_TRUE(std::isfinite(value));
  }
}

TEST(LowRank, RawTensorsTravelAsTheyAre) {
  Coder coder(LowRank({{0, 5, 1}, {5, 2, 2}}));
  const Values values = {1, -0.0f, 3, 1e30f, -5, 6, 7, 8, 9};

  const Values seen = coder.step(values);

  EXPECT_EQ(seen, values);
  EXPECT_FALSE(std::signbit(seen[1]));
  EXPECT_EQ(coder.residual, Values(9));
}

TEST(LowRank, RefusesEveryOtherSize) {
  const LowRank low_rank({{0, 40, 30}, {1200, 9, 1}});
  Values out(low_rank.count());
  for (std::size_t bytes = 0; bytes < low_rank.coded_bytes() + 9; bytes += 3) {
    const auto done = low_rank.decode(Bytes(bytes), out);
    EXPECT_EQ(done.has_value(), bytes == low_rank.coded_bytes());
  }
}

TEST(LowRank, ClearsMinusZerosOfStrangers) {
  const LowRank low_rank({{0, 12, 13}, {156, 3, 1}});
  Values coded_floats(low_rank.coded_bytes() / 4, -0.0f), out(low_rank.count());

  ASSERT_TRUE(low_rank.decode(std::as_bytes(std::span(coded_floats)), out));

  for (const float value : out) EXPECT_FALSE(std::signbit(value));
}

// --- Kernels ---

TEST(LowRankKernels, EqualReferenceOnEveryTarget) {
  on_every_target([](const char* target) {
    SCOPED_TRACE(target);
    for (std::size_t count = 0; count < 200; ++count) {
      const Values left = example::floats(Kind::kHeavy, count, 1);
      const Values right = example::floats(Kind::kNormal, count, 2);
      Values fast = left, plain = left;

      EXPECT_EQ(dot_kernel(left.data(), right.data(), count),
                dot_reference(left.data(), right.data(), count));
      add_scaled_kernel(0.3f, right.data(), fast.data(), count);
      add_scaled_reference(0.3f, right.data(), plain.data(), count);
      EXPECT_EQ(fast, plain);
    }
  });
}

TEST(LowRank, HasTheSameBitsOnEveryTarget) {
  const Values values = example::floats(Kind::kHeavy, 45 * 39);
  Coder first = coder_of(45, 39);
  for (int step = 0; step < 3; ++step) first.step(values);

  on_every_target([&](const char* target) {
    SCOPED_TRACE(target);
    Coder again = coder_of(45, 39);
    for (int step = 0; step < 3; ++step) again.step(values);

    EXPECT_EQ(again.coded, first.coded);
    EXPECT_EQ(again.residual, first.residual);
    EXPECT_EQ(again.memory, first.memory);
  });
}

}  // namespace
}  // namespace wide::codec
