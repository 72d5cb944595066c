#include "wide/train/script_file.h"

#include <utility>

#include "wide/train/script_module.h"

namespace wide::train {

Result<ScriptFile> read_script_file(const std::filesystem::path& file, const Digest& expected) {
  const auto loaded = load_script(file, expected);
  if (!loaded) return fail(loaded.error().code, loaded.error().detail);
  const auto& module = loaded->module;
  return ScriptFile{loaded->sha256, {module.layout(), module.values()}, module.draws_numbers()};
}

}  // namespace wide::train
