#pragma once
// Updates as products of two thin matrices (PowerSGD: Vogels, Karimireddy, Jaggi, NeurIPS 2019).
// Every tensor with two or more dimensions is taken as a matrix of its first dimension by the rest;
// M ≈ P Qᵀ with P of rows × rank, its columns orthonormal, and Q of columns × rank. Tensors where
// that saves nothing travel as they are.
//
// Q is kept between steps (a better start: one round of power iteration per step is enough), and so
// is what was lost (error feedback). Both are history that a pool must keep with its replica; those
// who only decode need neither.
//
// Every product is a sum in a fixed order, multiplied and added one after the other, never fused:
// the same bits on every instruction set.
//
//   coded, matrix by matrix:   P column by column f32 | Q column by column f32
//                  or, raw:    the tensor f32
//
// A column of P that the ones before it explain to a part in 10^5 is 0, and so is its Q; memory
// keeps its old start for the next step. A matrix with a value that is not finite, or so large that
// a sum is not (near 10^38), decodes to NaNs, all of it; memory keeps what it had.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "wide/base/error.h"

namespace wide::codec {

inline constexpr std::uint32_t kRank = 4;

// Where a tensor lies among the values. Those with one dimension: rows = size, columns = 1, and
// travel as they are.
struct Matrix {
  std::uint64_t offset = 0;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
};

class LowRank final {
 public:
  // `matrices` lie one behind another and cover [0, count).
  explicit LowRank(std::vector<Matrix> matrices, std::uint32_t rank = kRank);

  std::size_t count() const { return count_; }
  std::size_t coded_bytes() const { return coded_bytes_; }
  std::size_t memory_count() const { return memory_count_; }  // floats: every Q

  // Random in [-1, 1), from `seed`: what memory holds before the first step.
  void begin(std::uint64_t seed, std::span<float> memory) const;

  // Codes t = values + residual, rounded once; residual becomes t - decoded, memory the next Qs, of
  // length 1.
  void encode_with_feedback(std::span<const float> values, std::span<float> residual,
                            std::span<float> memory, std::span<std::byte> coded) const;

  // kBadCoding where `coded` has another size. Any floats may be in it; no decoded one is -0.0.
  Result<void> decode(std::span<const std::byte> coded, std::span<float> out) const;

 private:
  bool is_raw(const Matrix& matrix) const;
  std::size_t coded_count(const Matrix& matrix) const;  // floats

  std::vector<Matrix> matrices_;
  std::uint32_t rank_;
  std::size_t count_ = 0;
  std::size_t coded_bytes_ = 0;
  std::size_t memory_count_ = 0;
};

}  // namespace wide::codec
