#pragma once
// Copies of what a TorchScript attribute may hold: lists, tuples, dictionaries and objects all the
// way down. Tensors named as kept stay themselves, so that a list of a module's own weights (as
// nn.LSTM has) still is one afterwards. c10::IValue::deepcopy() would copy those too.

#include <ATen/core/ivalue.h>

#include <unordered_map>
#include <unordered_set>

namespace wide::train {

class IValueCopy final {
 public:
  using Kept = std::unordered_set<const void*>;  // tensors, by TensorBase::unsafeGetTensorImpl()

  explicit IValueCopy(const Kept& kept) : kept_(kept) {}

  // What was one thing in several places is one thing in the copies of one IValueCopy.
  c10::IValue of(const c10::IValue& value);
  // From here on `same` stands for `value`, as if it had been copied.
  void stand_in(const c10::IValue& value, const c10::IValue& same) {
    done_.insert_or_assign(value.internalToPointer(), same);
  }

 private:
  c10::IValue copy(const c10::IValue& value);
  c10::IValue copy_list(const c10::IValue& value);
  c10::IValue copy_tuple(const c10::IValue& value);
  c10::IValue copy_dict(const c10::IValue& value);
  c10::IValue copy_object(const c10::IValue& value);

  const Kept& kept_;
  std::unordered_map<const void*, c10::IValue> done_;
};

}  // namespace wide::train
