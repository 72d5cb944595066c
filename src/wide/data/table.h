#pragma once
// Table: the dataset behind every format of files, wherever the bytes of its records come from.
//
//   index ─▶ RecordSource ─▶ bytes of the sample, bytes of its targets ─▶ RecordDecoder ─▶ numbers
//
//   FileRecords    mapped files        ShelfRecords    chunks that were fetched
//
// Safe on any thread.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "wide/data/dataset.h"
#include "wide/data/library.h"
#include "wide/data/manifest.h"
#include "wide/data/recipe.h"
#include "wide/data/record_decoder.h"

namespace wide::data {

struct RecordBytes {
  std::span<const std::byte> sample;
  std::span<const std::byte> targets;  // empty for tokens
};

class RecordSource {
 public:
  virtual ~RecordSource() = default;

  virtual RecordBytes at(RecordPlace place) const = 0;

  virtual Result<void> unchanged() const { return {}; }
  virtual const Library* library() const { return nullptr; }
};

class Table final : public Dataset {
 public:
  Table(std::shared_ptr<const Manifest> manifest, Normalising normalising,
        std::unique_ptr<const RecordSource> source);

  const SampleSpace& space() const override { return manifest_->space; }
  void load_train(std::uint64_t index, const SampleRoom& room) const override;
  void load_eval(std::uint64_t index, const SampleRoom& room) const override;
  Result<void> unchanged() const override { return source_->unchanged(); }
  const Library* library() const override { return source_->library(); }

 private:
  std::shared_ptr<const Manifest> manifest_;
  RecordFinder finder_;
  RecordDecoder decoder_;
  std::unique_ptr<const RecordSource> source_;
};

// What the job says, or what everyone uses for fashion-mnist; tokens are never normalised.
Normalising normalising_of(const Recipe& recipe);

// kSamplesCorrupt where the manifest is of another kind of samples than the recipe's format.
Result<void> check_goes_with(const Recipe& recipe, const Manifest& manifest);

}  // namespace wide::data
