#pragma once
// A TorchScript file, looked at: what a job needs to know of it before anything is computed. The
// file is somebody's own; it is hashed before libtorch sees a byte of it, and never sent.
// No torch types here.

#include <cstdint>
#include <filesystem>

#include "wide/base/digest.h"
#include "wide/base/error.h"
#include "wide/engine/genesis.h"

namespace wide::train {

struct ScriptFile {
  Digest sha256;
  engine::Genesis genesis;     // parameters, then floating buffers, by their names in the file
  bool draws_numbers = false;  // dropout and the like: one process per slot, see torch_factory.h
};

// kModelMissing, kModelUnfit (no TorchScript; forward does not take one tensor and return one; no
// parameters; parameters that are not float32; …), with the file's name. `expected`: where not
// zero, any other hash is refused with kModelDiffers before the file is parsed.
Result<ScriptFile> read_script_file(const std::filesystem::path& file, const Digest& expected = {});

}  // namespace wide::train
