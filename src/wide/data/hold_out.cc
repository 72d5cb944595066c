#include "wide/data/hold_out.h"

#include <algorithm>
#include <cmath>

#include "wide/base/check.h"

namespace wide::data {
namespace {

__extension__ using Wide = unsigned __int128;  // products of two counts

std::uint64_t held_out_count(std::uint64_t count, double fraction) {
  WIDE_CHECK(fraction >= 0 && fraction < 1, "a fraction of the samples");
  if (count == 0) return 0;
  const auto product = std::floor(static_cast<double>(count) * fraction);
  return std::min(static_cast<std::uint64_t>(product), count - 1);
}

}  // namespace

HoldOut::HoldOut(std::uint64_t count, double fraction, Place place)
    : count_(count), eval_count_(held_out_count(count, fraction)), place_(place) {}

// Spaced: with N records and E of them held out, the j-th is in the middle of the j-th of E equal
// stretches, floor((2j + 1) N / 2E).
std::uint64_t HoldOut::eval_record(std::uint64_t index) const {
  if (place_ == Place::kAtEnd) return train_count() + index;
  const auto middle = (2 * Wide{index} + 1) * count_;
  return static_cast<std::uint64_t>(middle / (2 * Wide{eval_count_}));
}

// The i-th to train on comes after i others and those held out before it: all j with no more than i
// to train on before them, that is floor((2j + 1) N / 2E) - j <= i, or 2j (N - E) < 2E (i + 1) - N.
std::uint64_t HoldOut::train_record(std::uint64_t index) const {
  if (place_ == Place::kAtEnd || eval_count_ == 0) return index;
  const auto bound = 2 * Wide{eval_count_} * (Wide{index} + 1);
  if (bound <= count_) return index;
  const auto stretch = 2 * Wide{train_count()};
  const auto before = (bound - count_ + stretch - 1) / stretch;  // rounded up
  return index + static_cast<std::uint64_t>(std::min<Wide>(before, eval_count_));
}

}  // namespace wide::data
