#include "wide/train/flat_views.h"

#include <ATen/ops/from_blob.h>

#include <algorithm>

namespace wide::train {

namespace {
constexpr std::size_t kEntriesMax = 32;  // more arrays than a slot sees between two steps
}  // namespace

Tensors& FlatViews::over(float* values) {
  ++now_;
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.values == values; });
  if (found != entries_.end()) {
    found->used_at = now_;
    return found->tensors;
  }
  auto& entry = free_entry();
  entry = Entry{values, now_, make_views(values)};
  return entry.tensors;
}

FlatViews::Entry& FlatViews::free_entry() {
  if (entries_.size() < kEntriesMax) return entries_.emplace_back();
  return *std::min_element(entries_.begin(), entries_.end(),
                           [](const Entry& a, const Entry& b) { return a.used_at < b.used_at; });
}

Tensors FlatViews::make_views(float* values) const {
  Tensors tensors;
  tensors.reserve(layout_.tensors.size());
  for (const auto& spec : layout_.tensors) {
    const std::vector<std::int64_t> shape(spec.shape.begin(), spec.shape.end());
    tensors.push_back(at::from_blob(values + spec.offset, shape, at::kFloat));
    if (role_ == Role::kLeaves && !spec.is_buffer) tensors.back().set_requires_grad(true);
  }
  return tensors;
}

}  // namespace wide::train
