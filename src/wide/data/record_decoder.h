#pragma once
// From a record's bytes, as they lie in a file or came over the network, to the numbers that a
// model is given.
//
//   u8             value ÷ 255, then as the others
//   others         (value - mean) ÷ deviation, in double, rounded to float once
//   tokens         as they are; each one's label is the one that follows it
//   labels         as they are; targets that are values are not normalised
//
// Pure, and safe on any thread: the same bytes give the same numbers everywhere.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "wide/data/dataset.h"
#include "wide/data/manifest.h"

namespace wide::data {

// How values become a model's; whole numbers below are never normalised.
struct Normalising {
  double mean = 0;
  double deviation = 1;
};

class RecordDecoder final {
 public:
  RecordDecoder(const Manifest& manifest, Normalising normalising);

  // `targets` is empty for tokens. A room of another size than the space's is a bug.
  void decode(std::span<const std::byte> sample, std::span<const std::byte> targets,
              const SampleRoom& room) const;

 private:
  void decode_values(std::span<const std::byte> sample, std::span<float> values) const;
  void decode_tokens(std::span<const std::byte> sample, const SampleRoom& room) const;
  void decode_targets(std::span<const std::byte> targets, const SampleRoom& room) const;

  ElementType sample_type_;
  ElementType target_type_;
  std::uint64_t sample_size_;
  std::uint32_t target_count_;
  bool tokens_;
  std::uint32_t class_count_;
  Normalising normalising_;
  std::vector<float> normalised_;  // u8 and f16: of every value there is
};

}  // namespace wide::data
