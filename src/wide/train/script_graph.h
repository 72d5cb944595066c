#pragma once
// What a TorchScript module's code says of itself, read without running any of it.

#include <torch/csrc/jit/api/module.h>

#include "wide/base/error.h"

namespace wide::train {

// forward must take one tensor (more arguments may follow where they have defaults) and return one
// tensor; kModelUnfit says in TorchScript's words what it takes and returns instead.
Result<void> check_signature(const torch::jit::Module& module);

// Both ask of what forward may run; it has one, see check_signature().
//
// Does it draw random numbers, as far as can be told without running it? When in
// doubt, yes: dropout counts unless its probability is written as 0.
bool draws_numbers(const torch::jit::Module& module);

// Does it write to tensors where libtorch does not count it (x.data)? Then a look at the
// tensors' versions cannot tell that they are as they were.
bool writes_uncounted(const torch::jit::Module& module);

}  // namespace wide::train
