#include "wide/train/script_tensors.h"

#include <ATen/MemoryOverlap.h>
#include <ATen/core/jit_type.h>
#include <ATen/ops/isfinite.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

namespace wide::train {

namespace {

using Own = ScriptModule::Own;
using Slot = ScriptModule::Slot;
using ObjectPtr = c10::intrusive_ptr<c10::ivalue::Object>;

constexpr std::int64_t kExtentMax = std::numeric_limits<std::uint32_t>::max();

bool is_finite(const at::Tensor& tensor) { return at::isfinite(tensor).all().item<bool>(); }

// Why a tensor cannot be in a layout; empty where it can.
std::string complaint(const at::Tensor& tensor) {
  if (tensor.layout() != at::kStrided || tensor.is_quantized()) return "is not dense";
  if (tensor.scalar_type() != at::kFloat) {
    return fmt::format("holds {}; it must hold float32", c10::toString(tensor.scalar_type()));
  }
  if (at::has_internal_overlap(tensor) == at::MemOverlap::Yes) {
    return "repeats one value in several places; export it with .contiguous()";
  }
  if (std::ranges::any_of(tensor.sizes(), [](auto extent) { return extent > kExtentMax; })) {
    return "is too large";
  }
  return {};
}

class Walk final {
 public:
  void through(const ObjectPtr& object, const std::string& prefix) {
    if (!seen_objects_.insert(object.get()).second) return;
    const auto type = object->type();
    for (std::size_t i = 0; i < type->numAttributes(); ++i) {
      visit(Slot{object, i}, prefix + type->getAttributeName(i), *type);
    }
  }

  Result<ScriptTensors> result() {
    if (!unfit_.empty()) return fail(Errc::kModelUnfit, unfit_);
    if (found_.own.empty() || std::ranges::all_of(found_.own, &Own::is_buffer)) {
      return fail(Errc::kModelUnfit, "it has no parameters to train");
    }
    std::ranges::stable_partition(found_.own, [](const Own& own) { return !own.is_buffer; });
    return std::move(found_);
  }

 private:
  void visit(const Slot& slot, const std::string& name, const c10::ClassType& type) {
    const auto value = slot.object->getSlot(slot.index);
    if (value.isModule()) {
      through(value.toObject(), name + ".");
    } else if (name.ends_with("training") && type.getAttributeName(slot.index) == "training" &&
               value.isBool()) {
      found_.training.push_back(slot);
    } else if (!value.isTensor() || !visit_tensor(slot, name, type, value.toTensor())) {
      found_.others.push_back({slot, value});
    }
  }

  // False where the tensor is none of the layout's.
  bool visit_tensor(const Slot& slot, const std::string& name, const c10::ClassType& type,
                    const at::Tensor& tensor) {
    if (!tensor.defined()) return false;
    const auto seen = positions_.find(tensor.unsafeGetTensorImpl());
    if (seen != positions_.end()) {
      found_.own[seen->second].slots.push_back(slot);
      return true;
    }
    const bool is_parameter = type.is_parameter(slot.index);
    if (!is_parameter && !type.is_buffer(slot.index)) return false;
    const bool trained = is_parameter && tensor.requires_grad();
    if (!is_parameter && !(tensor.is_floating_point() && is_finite(tensor))) return false;
    add(slot, name, tensor, trained);
    return true;
  }

  void add(const Slot& slot, const std::string& name, const at::Tensor& tensor, bool trained) {
    const auto why = complaint(tensor);
    if (!why.empty() && unfit_.empty()) unfit_ = fmt::format("'{}' {}", name, why);
    positions_.emplace(tensor.unsafeGetTensorImpl(), found_.own.size());
    found_.own.push_back({name, tensor, {slot}, !trained});
  }

  ScriptTensors found_;
  std::unordered_map<const void*, std::size_t> positions_;
  std::unordered_set<const void*> seen_objects_;
  std::string unfit_;
};

// The memory that a tensor spans.
struct Stretch {
  const float* first;
  const float* last;
  const Own* own;
};

Stretch stretch_of(const Own& own) {
  std::int64_t reach = 0;
  for (std::int64_t i = 0; i < own.tensor.dim(); ++i) {
    reach += (own.tensor.size(i) - 1) * own.tensor.stride(i);
  }
  const auto* first = own.tensor.data_ptr<float>();
  return {first, first + reach, &own};
}

// Two parameters in the same memory that are not one: whichever is written last would win.
Result<void> check_overlaps(const std::vector<Own>& own) {
  std::vector<Stretch> stretches;
  for (const auto& tensor : own) {
    if (tensor.tensor.numel() > 0) stretches.push_back(stretch_of(tensor));
  }
  std::ranges::sort(stretches, {}, &Stretch::first);
  for (std::size_t i = 0; i + 1 < stretches.size(); ++i) {
    const auto& left = stretches[i];
    const auto& right = stretches[i + 1];
    if (left.last < right.first || (left.own->is_buffer && right.own->is_buffer)) continue;
    return fail(Errc::kModelUnfit,
                fmt::format("'{}' and '{}' share memory without being one tensor", left.own->name,
                            right.own->name));
  }
  return {};
}

}  // namespace

Result<ScriptTensors> sort_tensors(const torch::jit::Module& module) {
  Walk walk;
  walk.through(module._ivalue(), "");
  auto found = walk.result();
  if (!found) return found;
  const auto apart = check_overlaps(found->own);
  if (!apart) return fail(apart.error().code, apart.error().detail);
  return found;
}

}  // namespace wide::train
