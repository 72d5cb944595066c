#pragma once
// Tensors over a flat array, one per entry of a layout: no value is ever copied.
//
// Arrays come from a pool, so the same addresses return; making a tensor costs about as much as a
// small matrix product, so the views of recent arrays are kept. A kept view holds an address and a
// shape, nothing of the values: it cannot be stale while its caller holds an array at that address.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "wide/engine/layout.h"

namespace wide::train {

using Tensors = std::vector<at::Tensor>;  // in the order of layout.tensors

class FlatViews final {
 public:
  enum class Role { kLeaves, kPlain };  // leaves: the parameters among them ask for gradients

  FlatViews(const engine::Layout& layout, Role role) : layout_(layout), role_(role) {}

  // `values` is layout.value_count() long. The reference holds until the next call.
  Tensors& over(float* values);

 private:
  struct Entry {
    float* values = nullptr;
    std::uint64_t used_at = 0;
    Tensors tensors;
  };

  Tensors make_views(float* values) const;
  Entry& free_entry();

  engine::Layout layout_;
  Role role_;
  std::uint64_t now_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace wide::train
