#pragma once
// The task of 2024 and its relatives, as job files.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "wide/apps/edge/environment.h"

namespace wide::apps::bench {

inline constexpr double kBatchesPerSecond2024 = 24373 / 30.0;

struct SeedJob {
  enum class Kind { kTiny, kClothes };

  Kind kind = Kind::kTiny;
  int batch = 32;  // samples in a unit; of kClothes 64, whatever it says
  int delay = 0;
  std::string more;  // whole sections: "[net]\nquick_ack = true\n"

  std::string text() const;
  // A unit of 1,024 samples is worth 32 batches of 2024.
  double batches_per_unit() const { return kind == Kind::kClothes ? 1 : batch / 32.0; }
};

// `wide train` with these flags, in a folder that is gone afterwards: its summary.
nlohmann::json run_seed(const SeedJob& job, const std::vector<std::string>& flags,
                        const Environment& environment, const std::string& log = "silent");

}  // namespace wide::apps::bench
