#pragma once
// A job file as a tree of values that remember their lines. What toml++ knows and a job never needs
// (dates, comments, formats) ends here.
//
//   [train]            Entry kTable, key "train", line 1
//   batch = 32           Entry kWhole, key "batch", line 2, whole 32
//   betas = [0.9, 1]     Entry kList, key "betas", line 3, entries: kNumber, kWhole
//
// Inside the job's own files only.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wide/base/error.h"

namespace wide::engine {

struct Entry {
  enum class Kind { kTable, kList, kText, kWhole, kNumber, kTruth, kTime };

  Kind kind = Kind::kTable;
  std::uint32_t line = 0;      // where the value begins
  std::string key;             // in a table
  std::uint32_t key_line = 0;  // a key may stand a line before its value's first letter
  std::string text;
  std::int64_t whole = 0;
  double number = 0;  // of kWhole too
  bool truth = false;
  std::vector<Entry> entries;  // of a table or a list

  const Entry* find(std::string_view name) const;  // in a table; null where it is not there
};

// "a table", "a whole number", …: for complaints.
std::string_view kind_words(const Entry& entry);

// A job's text may come from a stranger and end in a log: letters only, and not too many.
std::string shown(std::string_view text);

// The only door to toml++. kJobSyntax with `source` and the line.
Result<Entry> read_entries(std::string_view text, std::string_view source);

}  // namespace wide::engine
