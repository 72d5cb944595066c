#pragma once
// Genesis: the values of a model at step 0, with the layout of its tensors. Where every replica
// begins; its hash is part of the chain that all messages carry.
//
// Built-in models are filled from a counter-based generator with elementary arithmetic, the same on
// every machine, without libtorch:
//   mlp, cnn   weights and biases uniform within ±1/sqrt(fan_in), as PyTorch does; norms 1 and 0
//   resnet     convolutions normal with variance 2 / fan_out; norms 1 and 0; the last layer as
//              above
//   gpt        weights normal with deviation 0.02, what ends a residual branch with
//              0.02/sqrt(2·layers); biases 0; norms 1 and 0
// The stream of a tensor is named by the seed and its place in `layout.tensors`.
// A TorchScript model's genesis is the values in its file, read where libtorch is.

#include <vector>

#include "wide/base/digest.h"
#include "wide/engine/job.h"
#include "wide/engine/layout.h"

namespace wide::engine {

struct Genesis {
  Layout layout;
  std::vector<float> values{};  // layout.value_count(); none where it is only named
  Digest named{};               // the hash of values that are not here: of a run that is resumed

  Digest sha256() const;  // of the values
};

// Not for TorchScript (a bug there).
Genesis make_genesis(const Job& job, const SampleSpace& space);

}  // namespace wide::engine
