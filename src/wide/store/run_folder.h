#pragma once
// The run folder: all that a run leaves behind.
//
//   job.toml              the canonical job            genesis.json    layout, hashes
//   events.jsonl          what happened, in words      metrics.jsonl   numbers over time
//   ledger/               the ledger log               checkpoints/    replicas to go on from
//   weights.safetensors   at the end of the run        summary.json    its facts
//   lock                  held, with its number, by the process that writes here

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "wide/base/error.h"
#include "wide/store/descriptor.h"

namespace wide::store {

class RunFolder final {
 public:
  // Makes the folder and its parents, and locks it. kCannotWrite: it already holds a run.
  // kRunInUse: another process has one under way in it.
  static Result<RunFolder> create(const std::filesystem::path& path);
  // One that holds a run, locked to go on with it. kRunMissing, kRunInUse.
  static Result<RunFolder> resume(const std::filesystem::path& path);
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
  Result<void> lock();
  Result<void> append(Stream& stream, std::string_view name, std::string_view line);

  std::filesystem::path path_;
  Descriptor lock_;
  Stream events_;  // each is opened by its first line
  Stream metrics_;
};

}  // namespace wide::store
