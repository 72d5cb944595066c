#pragma once
// The run folder: all that a run leaves behind.
//
//   job.toml              the canonical job            genesis.json    layout, hashes
//   events.jsonl          what happened, in words      metrics.jsonl   numbers over time
//   weights.safetensors   at the end of the run        summary.json    its facts
//
// (The durable ledger log and checkpoints will live here too.)

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "wide/base/error.h"

namespace wide::store {

class RunFolder final {
 public:
  // Makes the folder and its parents. A folder that already holds a run, or in which another
  // process has one under way, is refused.
  static Result<RunFolder> create(const std::filesystem::path& path);
  // One that holds a run; kRunMissing where there is none. Reading needs no right to write.
  static Result<RunFolder> open(const std::filesystem::path& path);

  // One line at the end of events.jsonl or metrics.jsonl, flushed to the kernel.
  Result<void> append_event(std::string_view json_line);
  Result<void> append_metric(std::string_view json_line);

  // Whole files, written aside and renamed.
  Result<void> write(std::string_view name, std::string_view text) const;
  Result<std::string> read(std::string_view name) const;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path file(std::string_view name) const { return path_ / name; }

 private:
  using Stream = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
  explicit RunFolder(std::filesystem::path path);
  Result<void> append(Stream& stream, std::string_view name, std::string_view line);

  std::filesystem::path path_;
  Stream events_;  // opened by the first line, or by create(), which locks it
  Stream metrics_;
};

}  // namespace wide::store
