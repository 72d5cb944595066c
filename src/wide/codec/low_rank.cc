#include "wide/codec/low_rank.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "wide/base/check.h"
#include "wide/base/philox.h"
#include "wide/codec/low_rank_kernels.h"

namespace wide::codec {

namespace {

constexpr std::uint32_t kStartPurpose = 0x6c6f7772;  // "lowr"
constexpr double kExplained =
    1e-5;  // what is left of a column, of its length, and is only rounding

using Floats = std::vector<float>;

bool all_finite(std::span<const float> values) {
  std::uint32_t largest = 0;
  for (const float value : values) {
    largest = std::max(largest, std::bit_cast<std::uint32_t>(value) & 0x7fffffffu);
  }
  return largest < 0x7f800000;
}

// Products of two floats are exact in double: only the sum is rounded, in the order of the values.
double exact_dot(std::span<const float> left, std::span<const float> right) {
  double sum = 0;
  for (std::size_t i = 0; i < left.size(); ++i) sum += double{left[i]} * double{right[i]};
  return sum;
}
double length(std::span<const float> column) { return std::sqrt(exact_dot(column, column)); }

void scale(std::span<float> column, double factor) {
  for (float& value : column) value = static_cast<float>(double{value} * factor);
}

void subtract(std::span<float> column, double factor, std::span<const float> other) {
  for (std::size_t i = 0; i < column.size(); ++i) {
    column[i] = static_cast<float>(double{column[i]} - factor * double{other[i]});
  }
}

// One matrix of one step: t, of rows × columns, and P and Q, column behind column.
class Product final {
 public:
  Product(const Matrix& matrix, std::uint32_t rank)
      : rows_(matrix.rows),
        columns_(matrix.columns),
        rank_(rank),
        p_(rows_ * rank),
        q_(columns_ * rank) {}

  // False where a sum is not finite. `start` are the columns to begin with.
  bool find(const float* t, const float* start) {
    for (std::size_t c = 0; c < rank_; ++c) {
      for (std::size_t i = 0; i < rows_; ++i) {
        p(c)[i] = dot_kernel(t + i * columns_, start + c * columns_, columns_);
      }
    }
    if (!all_finite(p_)) return false;
    orthonormalise();
    for (std::size_t i = 0; i < rows_; ++i) {
      for (std::size_t c = 0; c < rank_; ++c) {
        add_scaled_kernel(p(c)[i], t + i * columns_, q(c).data(), columns_);
      }
    }
    return all_finite(q_);
  }

  // Row i of P Qᵀ, one column of both after the other, from 0: -0.0 cannot come of it.
  void row(std::size_t i, float* out) const {
    std::fill(out, out + columns_, 0.0f);
    for (std::size_t c = 0; c < rank_; ++c) {
      add_scaled_kernel(p_[c * rows_ + i], q_.data() + c * columns_, out, columns_);
    }
  }

  void fill(float value) {
    std::ranges::fill(p_, value);
    std::ranges::fill(q_, value);
  }

  void write(std::byte* coded) const {
    std::memcpy(coded, p_.data(), p_.size() * sizeof(float));
    std::memcpy(coded + p_.size() * sizeof(float), q_.data(), q_.size() * sizeof(float));
  }
  void read(const std::byte* coded) {
    std::memcpy(p_.data(), coded, p_.size() * sizeof(float));
    std::memcpy(q_.data(), coded + p_.size() * sizeof(float), q_.size() * sizeof(float));
  }

  // The next step's start; a column that found nothing keeps its old one.
  void remember(float* memory) const {
    for (std::size_t c = 0; c < rank_; ++c) {
      const std::span<const float> found(q_.data() + c * columns_, columns_);
      const double size = length(found);
      if (size == 0) continue;
      std::ranges::copy(found, memory + c * columns_);
      scale(std::span(memory + c * columns_, columns_), 1 / size);
    }
  }

 private:
  std::span<float> p(std::size_t c) { return std::span(p_).subspan(c * rows_, rows_); }
  std::span<float> q(std::size_t c) { return std::span(q_).subspan(c * columns_, columns_); }

  // Gram and Schmidt, modified: each column loses what the ones before it have. Twice, since what
  // the first round leaves of a small rest is not yet at right angles.
  void orthonormalise() {
    for (std::size_t c = 0; c < rank_; ++c) {
      const double before = length(p(c));
      for (int round = 0; round < 2; ++round) {
        for (std::size_t other = 0; other < c; ++other) {
          subtract(p(c), exact_dot(p(c), p(other)), p(other));
        }
      }
      const double after = length(p(c));
      if (after <= kExplained * before) {
        std::ranges::fill(p(c), 0.0f);
      } else {
        scale(p(c), 1 / after);
      }
    }
  }

  std::size_t rows_;
  std::size_t columns_;
  std::size_t rank_;
  Floats p_;
  Floats q_;
};

void clear_minus_zeros(std::span<float> values) {
  for (float& value : values) value = value + 0.0f;
}

}  // namespace

LowRank::LowRank(std::vector<Matrix> matrices, std::uint32_t rank)
    : matrices_(std::move(matrices)), rank_(rank) {
  WIDE_CHECK(rank_ > 0);
  for (const Matrix& matrix : matrices_) {
    WIDE_CHECK(matrix.offset == count_, "matrices lie one behind another");
    count_ += matrix.rows * matrix.columns;
    coded_bytes_ += coded_count(matrix) * sizeof(float);
    if (!is_raw(matrix)) memory_count_ += matrix.columns * rank_;
  }
}

bool LowRank::is_raw(const Matrix& matrix) const {
  return (matrix.rows + matrix.columns) * rank_ >= matrix.rows * matrix.columns;
}

std::size_t LowRank::coded_count(const Matrix& matrix) const {
  return is_raw(matrix) ? matrix.rows * matrix.columns : (matrix.rows + matrix.columns) * rank_;
}

void LowRank::begin(std::uint64_t seed, std::span<float> memory) const {
  WIDE_CHECK(memory.size() == memory_count_);
  const RandomStream stream(seed, kStartPurpose, 0);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = 2 * stream.uniform(i) - 1;
}

void LowRank::encode_with_feedback(std::span<const float> values, std::span<float> residual,
                                   std::span<float> memory, std::span<std::byte> coded) const {
  WIDE_CHECK(values.size() == count_ && residual.size() == count_);
  WIDE_CHECK(memory.size() == memory_count_ && coded.size() == coded_bytes_);
  for (std::size_t i = 0; i < count_; ++i) residual[i] = values[i] + residual[i];

  float* start = memory.data();
  std::byte* to = coded.data();
  for (const Matrix& matrix : matrices_) {
    const auto t = residual.subspan(matrix.offset, matrix.rows * matrix.columns);
    if (is_raw(matrix)) {
      clear_minus_zeros(t);
      if (!t.empty()) std::memcpy(to, t.data(), t.size_bytes());
      std::ranges::fill(t, 0.0f);
    } else {
      Product product(matrix, rank_);
      if (all_finite(t) && product.find(t.data(), start)) {
        product.remember(start);
      } else {
        product.fill(std::numeric_limits<float>::quiet_NaN());
      }
      product.write(to);
      Floats row(matrix.columns);
      for (std::size_t i = 0; i < matrix.rows; ++i) {
        product.row(i, row.data());
        add_scaled_kernel(-1, row.data(), t.data() + i * matrix.columns, matrix.columns);
      }
      start += matrix.columns * rank_;
    }
    to += coded_count(matrix) * sizeof(float);
  }
}

Result<void> LowRank::decode(std::span<const std::byte> coded, std::span<float> out) const {
  WIDE_CHECK(out.size() == count_);
  if (coded.size() != coded_bytes_) {
    return fail(Errc::kBadCoding, "powersgd of " + std::to_string(count_) + " values has " +
                                      std::to_string(coded_bytes_) + " bytes, not " +
                                      std::to_string(coded.size()));
  }
  const std::byte* from = coded.data();
  for (const Matrix& matrix : matrices_) {
    const auto values = out.subspan(matrix.offset, matrix.rows * matrix.columns);
    if (is_raw(matrix)) {
      if (!values.empty()) std::memcpy(values.data(), from, values.size_bytes());
      clear_minus_zeros(values);
    } else {
      Product product(matrix, rank_);
      product.read(from);
      for (std::size_t i = 0; i < matrix.rows; ++i) {
        product.row(i, values.data() + i * matrix.columns);
      }
    }
    from += coded_count(matrix) * sizeof(float);
  }
  return {};
}

}  // namespace wide::codec
