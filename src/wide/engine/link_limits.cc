#include "wide/engine/link_limits.h"

#include "wide/engine/block_codec.h"
#include "wide/engine/lease_work.h"
#include "wide/engine/update_codec.h"

namespace wide::engine {

static_assert(wire::kCodecCount == codec::kLossyCount);

wire::Limits limits_for_job(wire::Limits limits, const Job& job, const Layout& layout,
                            const SampleSpace& space) {
  limits.value_count = layout.value_count();
  limits.state_count = state_count(job, layout);
  limits.block_count_max = job.blocks_per_step();
  limits.eval_unit_max = eval_unit_count(job, space);
  const UpdateCodec updates(job, layout);
  limits.block_bytes[0] = limits.update_bytes[0] = layout.value_count() * sizeof(float);
  for (std::uint8_t number = 1; number < codec::kLossyCount; ++number) {
    const auto codec = static_cast<codec::Lossy>(number);
    if (may_use(job.codec.gradient, number))
      limits.block_bytes[number] = block_bytes(codec, layout);
    if (may_use(job.codec.update, number)) limits.update_bytes[number] = updates.bytes(codec);
  }
  return limits;
}

}  // namespace wide::engine
