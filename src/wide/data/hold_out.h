#pragma once
// Which records are held out where a job names a fraction of its samples.
//
//   spaced   every so-manieth record, so that files sorted by class are no trouble; neighbours to
//            train on stay neighbours
//   at end   text: the last part of it, as one piece
//
// train_record and eval_record are strictly increasing, and together hit every record once. Pure,
// constant memory, a few dozen nanoseconds.

#include <cstdint>

namespace wide::data {

class HoldOut final {
 public:
  enum class Place { kSpaced, kAtEnd };

  // Holds out floor(count × fraction) records; fraction in [0, 1).
  HoldOut(std::uint64_t count, double fraction, Place place);

  std::uint64_t train_count() const { return count_ - eval_count_; }
  std::uint64_t eval_count() const { return eval_count_; }
  std::uint64_t train_record(std::uint64_t index) const;
  std::uint64_t eval_record(std::uint64_t index) const;

 private:
  std::uint64_t count_;
  std::uint64_t eval_count_;
  Place place_;
};

}  // namespace wide::data
