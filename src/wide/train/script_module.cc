#include "wide/train/script_module.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/jit/python/update_graph_executor_opt.h>

#include <algorithm>
#include <utility>

#include "wide/train/ivalue_copy.h"
#include "wide/train/script_graph.h"
#include "wide/train/script_tensors.h"

namespace wide::train {

namespace {

// While it lives, scripts on this thread run operator by operator.
class PlainExecution final {
 public:
  PlainExecution() : before_(torch::jit::getGraphExecutorOptimize()) {
    torch::jit::setGraphExecutorOptimize(false);
  }
  ~PlainExecution() { torch::jit::setGraphExecutorOptimize(before_); }
  PlainExecution(const PlainExecution&) = delete;
  PlainExecution& operator=(const PlainExecution&) = delete;

 private:
  bool before_;
};

std::int64_t version_of(const at::Tensor& tensor) {
  return static_cast<std::int64_t>(tensor._version());
}

bool holds(const ScriptModule::Slot& slot, const at::Tensor& tensor) {
  const auto value = slot.object->getSlot(slot.index);
  return value.isTensor() && value.toTensor().is_same(tensor);
}

engine::TensorSpec spec_of(const ScriptModule::Own& own, std::uint64_t offset) {
  engine::TensorSpec spec;
  spec.name = own.name;
  for (const auto extent : own.tensor.sizes()) {
    spec.shape.push_back(static_cast<std::uint32_t>(extent));
  }
  spec.offset = offset;
  spec.size = static_cast<std::uint64_t>(own.tensor.numel());
  spec.is_buffer = own.is_buffer;
  return spec;
}

}  // namespace

Result<ScriptModule> ScriptModule::examined(torch::jit::Module module) {
  const auto signature = check_signature(module);
  if (!signature) return fail(signature.error().code, signature.error().detail);
  auto found = sort_tensors(module);
  if (!found) return fail(found.error().code, found.error().detail);

  ScriptModule script;
  script.draws_numbers_ = train::draws_numbers(module);
  script.writes_uncounted_ = writes_uncounted(module);
  script.module_ = std::move(module);
  script.own_ = std::move(found->own);
  script.others_ = std::move(found->others);
  script.training_ = std::move(found->training);
  script.lay_out();
  script.hold_others();
  if (script.layout_.value_count() > engine::kParametersMax) {
    return fail(Errc::kModelUnfit, "it has too many parameters");
  }
  return script;
}

void ScriptModule::lay_out() {
  for (const auto& own : own_) {
    layout_.tensors.push_back(spec_of(own, layout_.value_count()));
    (own.is_buffer ? layout_.buffer_count : layout_.parameter_count) += layout_.tensors.back().size;
    own_tensors_.insert(own.tensor.unsafeGetTensorImpl());
  }
}

// What the module has now is the file's; from here on it gets copies of that.
void ScriptModule::hold_others() {
  IValueCopy copy(own_tensors_);
  std::ranges::stable_partition(others_,
                                [](const Other& other) { return other.in_file.isTensor(); });
  for (auto& other : others_) other.in_file = copy.of(other.in_file);
}

std::vector<float> ScriptModule::values() const {
  std::vector<float> values(layout_.value_count());
  for (std::size_t i = 0; i < own_.size(); ++i) {
    const auto dense = own_[i].tensor.detach().contiguous();
    std::copy_n(dense.data_ptr<float>(), layout_.tensors[i].size,
                values.begin() + static_cast<std::ptrdiff_t>(layout_.tensors[i].offset));
  }
  return values;
}

void ScriptModule::set_parameters(const Tensors& values, bool are_new) {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < own_.size(); ++i) {
    auto& own = own_[i];
    if (own.is_buffer) continue;
    if (are_new || writes_uncounted_ || version_of(own.tensor) != own.version) {
      own.tensor.copy_(values[i]);
      own.version = version_of(own.tensor);
    }
    if (!own.tensor.requires_grad()) own.tensor.set_requires_grad(true);
  }
}

void ScriptModule::restore(const Tensors& values) {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < own_.size(); ++i) {
    auto& own = own_[i];
    if (own.is_buffer) {
      own.tensor.detach_();  // from the graph of the last unit, where it was written in place
      own.tensor.copy_(values[i]);
    }
    for (const auto& slot : own.slots) {
      if (!holds(slot, own.tensor)) slot.object->setSlot(slot.index, own.tensor);
    }
  }
  restore_others();
}

// A tensor that nobody wrote to may stay: masks can be large.
void ScriptModule::restore_others() {
  IValueCopy copy(own_tensors_);
  for (auto& other : others_) {
    const bool unwritten = other.given.isTensor() && !writes_uncounted_ &&
                           holds(other.slot, other.given.toTensor()) &&
                           version_of(other.given.toTensor()) == other.version;
    if (unwritten) {
      copy.stand_in(other.in_file, other.given);
      continue;
    }
    other.given = copy.of(other.in_file);
    if (other.given.isTensor()) other.version = version_of(other.given.toTensor());
    other.slot.object->setSlot(other.slot.index, other.given);
  }
}

at::Tensor ScriptModule::forward(const at::Tensor& batch, bool training) {
  for (const auto& slot : training_) slot.object->setSlot(slot.index, training);
  const PlainExecution plain;
  return module_.forward({batch}).toTensor();
}

at::Tensor ScriptModule::current(std::size_t index) const {
  const auto& slot = own_[index].slots.front();
  return slot.object->getSlot(slot.index).toTensor();
}

}  // namespace wide::train
