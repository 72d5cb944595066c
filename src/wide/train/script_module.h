#pragma once
// A TorchScript module whose whole state can be put back: between two units nothing is left of what
// its code may have changed.
//
//   parameters       float32, asking for gradients            ┐ in the layout, by their names;
//   float buffers    running statistics, frozen parameters    ┘ a shared tensor once, by its first
//   everything else  counters, masks, flags, lists, plain tensors: as in the file, before every
//   unit
//
// A floating buffer with an infinity or NaN in the file (a causal mask, mostly) is no statistic: it
// belongs to everything else.
//
// Code runs operator by operator, without libtorch's optimiser of graphs: that one watches the
// first units and rewrites the later ones, whose bits would then differ.

#include <ATen/core/Tensor.h>
#include <torch/csrc/jit/api/module.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <unordered_set>
#include <vector>

#include "wide/base/digest.h"
#include "wide/base/error.h"
#include "wide/engine/genesis.h"
#include "wide/train/flat_views.h"

namespace wide::train {

class ScriptModule final {
 public:
  // A tensor of the layout. Several slots hold it where it is shared.
  struct Slot {
    c10::intrusive_ptr<c10::ivalue::Object> object;
    std::size_t index = 0;
  };
  struct Own {
    std::string name;
    at::Tensor tensor;
    std::vector<Slot> slots;
    bool is_buffer = false;
    std::int64_t version = -1;  // when it was last as it should be; libtorch counts writes
  };
  // Anything else that the code can change.
  struct Other {
    Slot slot;
    c10::IValue in_file;
    c10::IValue given{};  // the copy that the module has now
    std::int64_t version = -1;
  };

  // kModelUnfit where no gradient descent could be made of it.
  static Result<ScriptModule> examined(torch::jit::Module module);

  const engine::Layout& layout() const { return layout_; }
  std::vector<float> values() const;  // in the layout's order, as they are now
  bool draws_numbers() const { return draws_numbers_; }

  // `values` are views in the layout's order. Parameters are copied only where they must be: new
  // ones, and those that the code wrote to.
  void set_parameters(const Tensors& values, bool are_new);
  // Everything but the parameters as it was: buffers from `values`, the rest from the file.
  void restore(const Tensors& values);

  at::Tensor forward(const at::Tensor& batch, bool training);

  const at::Tensor& own(std::size_t index) const { return own_[index].tensor; }
  // What the module holds now in that place: its code may have put another tensor there.
  at::Tensor current(std::size_t index) const;

 private:
  ScriptModule() = default;
  void lay_out();
  void hold_others();
  void restore_others();

  torch::jit::Module module_;
  engine::Layout layout_;
  std::vector<Own> own_;  // in the layout's order
  std::unordered_set<const void*> own_tensors_;
  std::vector<Other> others_;   // tensors first
  std::vector<Slot> training_;  // the flag of every part
  bool draws_numbers_ = false;
  bool writes_uncounted_ = false;
};

struct LoadedScript {
  Digest sha256;  // of the very bytes that were parsed
  ScriptModule module;
};

// kModelMissing, kModelDiffers (before anything is parsed, where `expected` is not zero),
// kModelUnfit; each with the file's name.
Result<LoadedScript> load_script(const std::filesystem::path& file, const Digest& expected);

}  // namespace wide::train
