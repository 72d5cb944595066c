#pragma once
// What each error code means, what to do about it, and the exit code that goes with it.

#include <span>
#include <string_view>

#include "wide/base/error.h"

namespace wide {

// Exit codes are part of the contract with scripts.
enum class ExitCode : int {
  kOk = 0,
  kFailure = 1,
  kUsage = 2,
  kUnreachable = 3,
  kNotAllowed = 4,
  kVersions = 5,
  kTraining = 6,
  kPreflight = 7,
  kInterrupted = 130,
};

struct CatalogEntry {
  Errc code;
  ExitCode exit_code;
  std::string_view title;   // a few words: "unknown key in the job"
  std::string_view advice;  // what it means and what to do, for `wide help W103`
};

std::span<const CatalogEntry> error_catalog();

// Never null: an unknown number reads as kBug's entry.
const CatalogEntry& catalog_entry(Errc code);

}  // namespace wide
