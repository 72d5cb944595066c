#pragma once
// What a pool lends out: the manifest of its samples, and every chunk where it lies in the mapped
// files. Nothing is copied; the spans hold as long as the dataset does.

#include <cstdint>
#include <span>
#include <vector>

#include "wide/data/manifest.h"

namespace wide::data {

class Library {
 public:
  virtual const Manifest& manifest() const = 0;
  virtual std::span<const std::byte> chunk(std::uint64_t chunk) const = 0;

  // Asks the kernel to have it in memory soon; returns at once.
  virtual void announce(std::uint64_t chunk) const = 0;

  // A sample as it travels with a lease: its record, then its targets' (none for text). Appends the
  // runs; together space.carried_bytes.
  virtual void add_train_record(std::uint64_t index,
                                std::vector<std::span<const std::byte>>& runs) const = 0;
  virtual void add_eval_record(std::uint64_t index,
                               std::vector<std::span<const std::byte>>& runs) const = 0;

 protected:
  ~Library() = default;
};

}  // namespace wide::data
