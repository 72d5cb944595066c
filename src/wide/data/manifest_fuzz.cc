// A manifest that is believed is written back byte for byte, and every sample and chunk of it can
// be found without leaving its parts.

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "wide/data/manifest.h"

namespace {

void require(bool good) {
  if (!good) std::abort();
}

void check_chunks(const wide::data::Manifest& manifest) {
  std::vector<std::uint64_t> chunks = {0, manifest.space.chunk_count - 1};
  const auto& space = manifest.space;
  for (const auto index : {std::uint64_t{0}, space.train_count / 2, space.train_count - 1}) {
    wide::data::add_chunks_of_train(manifest, index, chunks);
  }
  if (space.eval_count > 0) {
    wide::data::add_chunks_of_eval(manifest, 0, chunks);
    wide::data::add_chunks_of_eval(manifest, space.eval_count - 1, chunks);
  }
  for (const auto chunk : chunks) {
    require(chunk < space.chunk_count);
    const auto& part = wide::data::part_of_chunk(manifest, chunk);
    require(part.chunk_begin(chunk) + part.chunk_bytes(chunk) <= part.bytes());
    require(part.chunk_bytes(chunk) <= wide::data::kChunkBytesMax);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto given = std::as_bytes(std::span(bytes, size));
  const auto manifest = wide::data::decode_manifest(given);
  if (!manifest) return 0;
  require(std::ranges::equal(wide::data::encode_manifest(*manifest), given));
  require(manifest->chunks.size() == manifest->space.chunk_count);
  require(manifest->space.carried_bytes > 0 && manifest->space.samples_per_chunk > 0);
  check_chunks(*manifest);
  return 0;
}
