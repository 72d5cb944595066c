#pragma once
// The update of a step on its way down, coded by the job's plan. Everyone applies what the code
// decodes to, the pool included; what was lost is kept and added to the next update.
//
//   a coded update = | change of the weights, coded, a multiple of four bytes | new buffers |
//   memory         = | what was lost: one float per parameter | the Qs of powersgd |
//
// Memory is history that only the one who codes needs; whoever decodes needs none.

#include <cstdint>
#include <optional>
#include <span>

#include "wide/base/buffer.h"
#include "wide/codec/lossy.h"
#include "wide/codec/low_rank.h"
#include "wide/engine/job.h"
#include "wide/engine/layout.h"
#include "wide/wire/messages.h"

namespace wide::engine {

struct CodedUpdate {
  wire::Coded sent;
  Floats values;  // what it decodes to: layout.value_count()
  Floats memory;  // of the pool, behind this update; empty where the plan has none
};

class UpdateCodec final {
 public:
  UpdateCodec(const Job& job, const Layout& layout);

  std::uint64_t bytes(codec::Lossy codec) const;  // 0 for those that this job cannot use
  std::size_t memory_count() const;               // floats; 0 where no update is ever lossy
  void begin(std::span<float> memory) const;      // as it is before the first update

  // A change of the weights, then the new buffers. `memory` becomes what it is behind this update.
  wire::Coded encode(codec::Lossy codec, const Floats& change, std::span<float> memory,
                     BufferPool& buffers) const;
  Result<Floats> decode(const wire::Coded& coded, BufferPool& buffers) const;

 private:
  LossyPlan plan_;
  std::uint64_t seed_;
  std::uint64_t parameter_count_;
  std::uint64_t buffer_count_;
  std::optional<codec::LowRank> low_rank_;
};

}  // namespace wide::engine
