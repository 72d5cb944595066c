#include "wide/train/blas_check.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mm.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "wide/base/check.h"
#include "wide/train/compute_facts.h"
#include "wide/train/compute_thread.h"

namespace wide::train {

namespace {

constexpr std::size_t kSide = 512;
constexpr int kRounds = 3;
constexpr double kFasterThanLoop = 4;

using Matrix = std::vector<float>;

Matrix make_matrix(std::uint32_t seed) {
  Matrix matrix(kSide * kSide);
  for (float& value : matrix) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<float>(seed >> 24) / 256.0f - 0.5f;
  }
  return matrix;
}

at::Tensor over(Matrix& matrix) {
  const auto side = static_cast<std::int64_t>(kSide);
  return at::from_blob(matrix.data(), {side, side}, at::kFloat);
}

// The order a compiler can vectorise, with no blocking: what the reference BLAS does at its best.
void multiply_plainly(const Matrix& left, const Matrix& right, Matrix& product) {
  std::fill(product.begin(), product.end(), 0.0f);
  for (std::size_t i = 0; i < kSide; ++i) {
    for (std::size_t k = 0; k < kSide; ++k) {
      const float factor = left[i * kSide + k];
      for (std::size_t j = 0; j < kSide; ++j) {
        product[i * kSide + j] += factor * right[k * kSide + j];
      }
    }
  }
}

template <class Multiply>
double best_gflops(Multiply multiply) {
  using Clock = std::chrono::steady_clock;
  double best_seconds = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = Clock::now();
    multiply();
    best_seconds =
        std::min(best_seconds, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return 2.0 * kSide * kSide * kSide / best_seconds / 1e9;
}

}  // namespace

BlasReport check_blas() {
  prepare_compute_thread();
  auto left = make_matrix(1);
  auto right = make_matrix(2);
  Matrix by_blas(kSide * kSide);
  Matrix by_loop(kSide * kSide);
  auto product = over(by_blas);
  const auto facts = compute_facts();

  BlasReport report;
  report.library = fmt::format("{} ({})", facts.blas, facts.blas_path);
  report.gflops = best_gflops([&] { at::mm_out(product, over(left), over(right)); });
  report.gflops_plain_loop = best_gflops([&] { multiply_plainly(left, right, by_loop); });
  report.slow =
      facts.blas_is_reference || report.gflops < kFasterThanLoop * report.gflops_plain_loop;
  return report;
}

}  // namespace wide::train
