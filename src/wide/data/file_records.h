#pragma once
// Records and chunks where they lie in mapped files: what a pool trains on, and what it lends out.

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "wide/data/file_set.h"
#include "wide/data/table.h"

namespace wide::data {

class FileRecords final : public RecordSource, public Library {
 public:
  FileRecords(FileSet set, std::shared_ptr<const Manifest> manifest)
      : set_(std::move(set)), manifest_(std::move(manifest)), finder_(*manifest_) {}

  RecordBytes at(RecordPlace place) const override;
  Result<void> unchanged() const override { return set_.unchanged(); }
  const Library* library() const override { return this; }

  const Manifest& manifest() const override { return *manifest_; }
  std::span<const std::byte> chunk(std::uint64_t chunk) const override;
  void announce(std::uint64_t chunk) const override;
  void add_train_record(std::uint64_t index,
                        std::vector<std::span<const std::byte>>& runs) const override;
  void add_eval_record(std::uint64_t index,
                       std::vector<std::span<const std::byte>>& runs) const override;

 private:
  struct ChunkPlace {
    const ArrayFile& file;
    std::uint64_t begin;
    std::uint64_t bytes;
  };
  ChunkPlace find_chunk(std::uint64_t chunk) const;
  std::span<const std::byte> record(std::size_t place, std::uint64_t record) const;
  void add_record(RecordPlace place, std::vector<std::span<const std::byte>>& runs) const;

  FileSet set_;
  std::shared_ptr<const Manifest> manifest_;
  RecordFinder finder_;
};

}  // namespace wide::data
