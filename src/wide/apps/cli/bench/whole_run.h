#pragma once
// Runs that a bench makes: `wide train` itself, with real nodes and a real ledger, in a folder that
// is gone afterwards.

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "wide/apps/edge/environment.h"

namespace wide::apps::bench {

class ScratchFolder final {
 public:
  explicit ScratchFolder(const Environment& environment);  // Failure where none can be made
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

// Its summary. Failure with what the run said, where it did not come to its end.
nlohmann::json train(const std::string& job_file, const std::string& out,
                     const std::vector<std::string>& flags, const Environment& environment,
                     const std::string& log = "silent");

}  // namespace wide::apps::bench
