#include "wide/data/space_digest.h"

#include "wide/base/bytes.h"

namespace wide::data {

void hash_space(Sha256& hash, const SampleSpace& space) {
  ByteWriter writer;
  writer.put(space.train_count);
  writer.put(space.eval_count);
  writer.put(static_cast<std::uint32_t>(space.sample_shape.size()));
  for (const auto extent : space.sample_shape) writer.put(extent);
  writer.put(space.class_count);
  hash.update(writer.take());
}

}  // namespace wide::data
