#pragma once
// What a run leaves in its folder besides the events: the job and its genesis at the start, the
// weights and the summary at the end, however it ends.

#include <ctime>
#include <filesystem>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "wide/apps/cli/summary_json.h"
#include "wide/engine/pool/pool.h"
#include "wide/store/run_folder.h"

namespace wide::apps {

// runs/NAME-20240131-235959, and -2, -3 … where that is taken. The name keeps letters, digits,
// '.', '_' and '-'; a job's name is free text and must not leave the folder.
std::filesystem::path default_run_folder(std::string_view job_name, std::time_t now);

// The model as data, enough to build it in PyTorch.
nlohmann::ordered_json model_json(const engine::Model& model, const SampleSpace& space);

// job.toml and genesis.json. Throws Failure (kCannotWrite).
void record_start(const store::RunFolder& folder, const engine::Pool& pool,
                  const SampleSpace& space);

// weights.safetensors and summary.json. Throws Failure (kCannotWrite).
void record_end(const store::RunFolder& folder, const engine::Pool& pool, const SampleSpace& space,
                const RunFacts& facts);

}  // namespace wide::apps
