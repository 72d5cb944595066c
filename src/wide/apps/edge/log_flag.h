#pragma once
// --log silent|normal|verbose, the same word in both programs.

#include <string_view>

#include "wide/base/error.h"
#include "wide/base/log.h"

namespace wide::apps {

inline log::Level log_level(std::string_view word) {
  if (word == "silent") return log::Level::kSilent;
  if (word == "normal") return log::Level::kNormal;
  if (word == "verbose") return log::Level::kVerbose;
  throw Failure(Errc::kUsage,
                "--log knows silent, normal and verbose, not '" + std::string(word) + "'");
}

}  // namespace wide::apps
