#pragma once
// What `wide doctor` looks at. Each check says what it found and, where that is not well, what to
// do. A check never throws: not being able to look is a finding, too.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "wide/apps/edge/environment.h"

namespace wide::apps {

enum class Verdict { kOk, kWarn, kFail };

struct Check {
  std::string name;
  Verdict verdict = Verdict::kOk;
  std::string found;
  std::string advice;  // empty where all is well
};

std::string_view verdict_word(Verdict verdict);  // ok, warn, fail

// wide-node is there, libtorch loads, its BLAS is fast: asked of `wide-node doctor`.
std::vector<Check> check_compute(const Environment& environment);
// The answer of `wide-node doctor --json` as checks. Pure.
std::vector<Check> read_compute_answer(std::string_view json_text);

Check check_cores();
Check check_disk(const std::filesystem::path& folder);  // how long a small synced write takes
Check check_port();                                     // loopback can be listened on
Check check_samples(const Environment& environment);
Check check_pool(const std::string& url);  // the way to it, and how long an answer takes

}  // namespace wide::apps
