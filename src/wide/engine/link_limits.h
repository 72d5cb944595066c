#pragma once
// What a link may carry once its job is known: the same on both sides.

#include "wide/base/sample_space.h"
#include "wide/engine/job.h"
#include "wide/engine/layout.h"
#include "wide/wire/message_codec.h"

namespace wide::engine {

// Adds what the job says of values, blocks and codecs to `limits`.
wire::Limits limits_for_job(wire::Limits limits, const Job& job, const Layout& layout,
                            const SampleSpace& space);

}  // namespace wide::engine
