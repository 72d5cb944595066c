#pragma once
// For tests: the TorchScript files that scripts/export_models.py writes, small ones. They are made
// once, in a folder beside the test program that is named by the script's own hash, and stay there.

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "wide/base/check.h"
#include "wide/base/digest.h"

namespace wide::train {

inline constexpr float kExportedDropout = 0.25f;

inline void export_scripts(const std::filesystem::path& script,
                           const std::filesystem::path& folder) {
  const auto aside = folder.string() + "." + std::to_string(getpid());
  for (const std::string dropout : {"0", "0.25"}) {
    const auto part = std::filesystem::path(aside) / dropout;
    std::filesystem::create_directories(part);
    const auto command = "/usr/bin/python3 '" + script.string() + "' all '" + part.string() +
                         "' --small --dropout " + dropout;
    WIDE_CHECK(std::system(command.c_str()) == 0, "needs the system's python3-torch");
  }
  std::error_code made_by_another;
  std::filesystem::rename(aside, folder, made_by_another);
  if (made_by_another) std::filesystem::remove_all(aside);
}

// `kind` is mobile, lstm or vit.
inline std::filesystem::path exported_script(const std::string& kind, bool dropout) {
  const auto script = std::filesystem::path(WIDE_GOLDEN_FOLDER) / "../../scripts/export_models.py";
  std::ostringstream text;
  text << std::ifstream(script).rdbuf();
  const auto program = std::filesystem::read_symlink("/proc/self/exe");
  const auto folder = program.parent_path() / ("exported-" + sha256(text.str()).short_hex());
  if (!std::filesystem::exists(folder)) export_scripts(script, folder);
  return folder / (dropout ? "0.25" : "0") / (kind + ".pt");
}

}  // namespace wide::train
