// Who gets what to work on: samples for nodes that lack them. What is asked for is checked here;
// the driver, which has the files, sends it.

#include <fmt/format.h>

#include <algorithm>

#include "wide/engine/pool/pool_run.h"

namespace wide::engine {

bool Pool::Run::may_be_sent_samples(Member& member) {
  if (member.standing != Standing::kPreparing && member.standing != Standing::kReady) {
    refuse(member, Errc::kUnexpectedMessage, "asks for samples, but not as a node");
    return false;
  }
  if (space_.chunk_count == 0 || job_.samples.ship == Ship::kLocal) {
    refuse(member, Errc::kNotShipped, "this pool sends no samples: every node must have its own");
    return false;
  }
  return true;
}

void Pool::Run::on(Member& member, wire::WantSamples&) {
  if (!may_be_sent_samples(member)) return;
  if (member.has_manifest) {
    refuse(member, Errc::kUnexpectedMessage, "asks for the manifest twice");
    return;
  }
  member.has_manifest = true;
  note(Note::Weight::kDetail, "samples asked for", fmt::format("name={}", member.name));
  effects_->push_back(SendManifest{member.link});
  if (job_.samples.ship == Ship::kAlways) {
    effects_->push_back(SendSamples{member.link, false, 0, job_.train.batch});
  }
}

void Pool::Run::on(Member& member, wire::Fetch& fetch) {
  if (!may_be_sent_samples(member)) return;
  if (job_.samples.ship == Ship::kAlways) {
    refuse(member, Errc::kUnexpectedMessage, "asks for chunks, but samples come with the leases");
    return;
  }
  const bool unknown = std::ranges::any_of(fetch.chunks, [this](const wire::ChunkName& name) {
    return name.chunk >= space_.chunk_count;
  });
  member.chunks_owed += static_cast<std::uint32_t>(fetch.chunks.size());
  if (unknown || member.chunks_owed > kFetchCountMax) {
    refuse(member, Errc::kUnexpectedMessage,
           unknown ? "asks for a chunk that there is not" : "asks for too many chunks at once");
    return;
  }
  for (const auto& name : fetch.chunks) effects_->push_back(SendChunk{member.link, name.chunk});
}

// The samples of a lease travel right ahead of it.
void Pool::Run::carry(Member& member, Step step, Subtree run) {
  if (phase_ == Phase::kEvaluating) {
    const std::uint64_t first = std::uint64_t{run.first} * job_.eval.batch;
    const std::uint64_t end = std::uint64_t{run.end()} * job_.eval.batch;
    effects_->push_back(
        SendSamples{member.link, true, first, std::min(end, space_.eval_count) - first});
    return;
  }
  const std::uint64_t units = job_.train.units_per_step;
  const std::uint64_t first_unit = std::uint64_t{run.first} * job_.train.block_units;
  const std::uint64_t end_unit =
      std::min<std::uint64_t>(std::uint64_t{run.end()} * job_.train.block_units, units);
  const std::uint64_t step_begin = step * units;
  effects_->push_back(SendSamples{member.link, false, (step_begin + first_unit) * job_.train.batch,
                                  (end_unit - first_unit) * job_.train.batch});
}

}  // namespace wide::engine
