#pragma once
// Datasets of a node that has no files: over a shelf of chunks, or over what came with the leases.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>

#include "wide/base/buffer.h"
#include "wide/data/chunk_shelf.h"
#include "wide/data/dataset.h"
#include "wide/data/recipe.h"

namespace wide::data {

// Only the format and the normalising of `recipe` are used. A sample may be loaded while its chunks
// are held; loading another is a bug. kSamplesCorrupt where manifest and recipe do not go together
// (a manifest of images for a job on text).
Result<DatasetPtr> make_shipped(const Recipe& recipe, std::shared_ptr<ChunkShelf> shelf);

// `ship = "always"`: samples live as long as the lease they came with. A sample may be loaded while
// a record of it is held; loading another is a bug. Safe on any thread.
class CarriedSamples : public Dataset {
 public:
  using Hold = std::shared_ptr<const void>;

  // `indices` in the order of the records in `bytes` (space.carried_bytes each), which `owner`
  // keeps alive. kBadFrame where the sizes do not fit.
  virtual Result<Hold> hold(bool held_out, std::span<const std::uint64_t> indices,
                            std::shared_ptr<const void> owner,
                            std::span<const std::byte> bytes) = 0;
};

Result<std::shared_ptr<CarriedSamples>> make_carried(const Recipe& recipe,
                                                     std::shared_ptr<const Manifest> manifest);

}  // namespace wide::data
