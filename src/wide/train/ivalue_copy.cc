#include "wide/train/ivalue_copy.h"

#include <ATen/core/Dict.h>
#include <ATen/core/List.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/ivalue_inl.h>
#include <ATen/core/jit_type.h>

#include <utility>
#include <vector>

namespace wide::train {

c10::IValue IValueCopy::of(const c10::IValue& value) {
  if (!value.isPtrType()) return value;  // numbers and None
  const void* place = value.internalToPointer();
  if (const auto found = done_.find(place); found != done_.end()) return found->second;
  auto made = copy(value);
  done_.insert_or_assign(place, made);
  return made;
}

c10::IValue IValueCopy::copy(const c10::IValue& value) {
  if (value.isTensor()) {
    const auto& tensor = value.toTensor();
    if (!tensor.defined() || kept_.contains(tensor.unsafeGetTensorImpl())) return value;
    return tensor.detach().clone().set_requires_grad(tensor.requires_grad());
  }
  if (value.isList()) return copy_list(value);
  if (value.isTuple()) return copy_tuple(value);
  if (value.isGenericDict()) return copy_dict(value);
  if (value.isObject() && !value.isModule()) return copy_object(value);
  return value;  // strings, devices and the like never change
}

c10::IValue IValueCopy::copy_list(const c10::IValue& value) {
  const auto list = value.toList();
  c10::impl::GenericList made(list.elementType());
  made.reserve(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) made.push_back(of(list.get(i)));
  return made;
}

c10::IValue IValueCopy::copy_tuple(const c10::IValue& value) {
  const auto& tuple = value.toTupleRef();
  std::vector<c10::IValue> elements;
  for (const auto& element : tuple.elements()) elements.push_back(of(element));
  return c10::ivalue::Tuple::createNamed(std::move(elements),
                                         value.toTuple()->type<c10::TupleType>());
}

c10::IValue IValueCopy::copy_dict(const c10::IValue& value) {
  const auto dict = value.toGenericDict();
  c10::impl::GenericDict made(dict.keyType(), dict.valueType());
  for (const auto& entry : dict) made.insert(of(entry.key()), of(entry.value()));
  return made;
}

c10::IValue IValueCopy::copy_object(const c10::IValue& value) {
  const auto object = value.toObject();
  auto made = object->copy();                               // of the object alone, not of its parts
  done_.insert_or_assign(value.internalToPointer(), made);  // before its parts: they may name it
  for (std::size_t i = 0; i < object->slots().size(); ++i) made->setSlot(i, of(object->getSlot(i)));
  return made;
}

}  // namespace wide::train
