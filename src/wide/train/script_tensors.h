#pragma once
// Walks a TorchScript module once and sorts what it holds: see script_module.h.

#include <string>
#include <vector>

#include "wide/base/error.h"
#include "wide/train/script_module.h"

namespace wide::train {

struct ScriptTensors {
  std::vector<ScriptModule::Own> own;  // parameters first, then buffers; first name wins
  std::vector<ScriptModule::Other> others;
  std::vector<ScriptModule::Slot> training;
};

// kModelUnfit names the tensor that nothing can be made of.
Result<ScriptTensors> sort_tensors(const torch::jit::Module& module);

}  // namespace wide::train
