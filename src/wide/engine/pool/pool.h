#pragma once
// The pool: owns a job, hands out its blocks, adds up what comes back, commits step after step.
// A state machine without I/O: an event and `now` go in, effects come out. It knows links, not
// sockets; it is told the time; the same code runs under net/ and under sim/.
//
//   opened ─▶ received(Hello) ─▶ Welcome ─▶ received(Ready) ─▶ received(Want) ─▶ Lease …
//   received(LeaseResult) ─▶ sum tree ─▶ root ─▶ Append … appended ─▶ Update and the next leases
//   closed, or silence ─▶ its leases are free again at once

#include <memory>
#include <string>

#include "wide/base/buffer.h"
#include "wide/engine/job.h"
#include "wide/engine/past.h"
#include "wide/engine/pool/effects.h"
#include "wide/engine/pool/summary.h"
#include "wide/engine/replica.h"

namespace wide::engine {

// How many chunks of samples a node may have asked for and not yet got.
inline constexpr std::uint32_t kFetchCountMax = 16;

struct PoolOptions {
  Block lease_blocks = 0;  // forced size of leases; 0: by measured speed
  // In turns with training, half a second each, and at the end.
  bool measure_efficiency = false;
  bool nodes_coming = false;        // whoever opens the pool starts some: no need to call for them
  std::uint32_t slots_at_once = 0;  // that can compute, where all nodes share its cores; 0: unknown
  bool nodes_help = false;  // each other with a lease: brief steps go whole to one at a time
  std::uint32_t link_count_max = 16'384;
  std::size_t ring_bytes_max = 64u << 20;  // recent updates kept for nodes that lag
  Duration heartbeat = std::chrono::seconds(1);
  Duration silence_max = std::chrono::seconds(6);  // a link that says nothing for so long is closed
  Duration hello_max = std::chrono::seconds(5);    // a stranger must have said hello by then
  Duration measure_span = std::chrono::seconds(5);  // at most: half as long as was trained
};

struct Footprint {
  FrozenReplica replica;
  Past past;
};

class Pool final {
 public:
  Pool(Job job, SampleSpace space, const Genesis& genesis, PoolOptions options,
       BufferPool& buffers);
  ~Pool();

  // Coming back: first a checkpoint, if there is one, then the records behind it, then resume().
  // False, and nothing changed, where they do not fit this job or each other.
  bool stand_at(const Genesis& genesis);  // that was only named
  bool restore(const FrozenReplica& replica, Past past);
  bool recall(const LedgerRecord& record);
  void resume(Time now, Effects& effects);

  // Events. `wire_bytes`: what the message took on the wire.
  void opened(LinkId link, std::string peer, Time now, Effects& effects);
  void heard(LinkId link, Time now);  // any byte is a sign of life
  void received(LinkId link, wire::Message&& message, std::size_t wire_bytes, Time now,
                Effects& effects);
  void broken(LinkId link, const Error& why, Time now,
              Effects& effects);  // what it sent is no frame
  void closed(LinkId link, const Error& why, Time now, Effects& effects);
  void tick(Time now, Effects& effects);
  void appended(Time now, Effects& effects);  // the commit that was to be written is written
  void hold(std::string why);                 // it is not, for this reason: the disk is full
  void stop(const std::string& reason, Time now, Effects& effects);  // ends at the last commit
  void fail(Error error, Time now, Effects& effects);  // the same, because it cannot go on
  // A manifest, a chunk or samples are on their way, so many bytes with headers.
  void shipped(LinkId link, std::size_t wire_bytes, bool chunk);
  // Lossless codes made so much shorter what went to this link, or what came from it.
  void saved(LinkId link, std::size_t sent_bytes, std::size_t received_bytes);
  void spent_on_coding(Duration span);

  // When tick() is due, at the latest.
  Time next_tick(Time now) const;

  // Questions.
  bool finished() const;
  bool stands() const;        // has a replica: of genesis, or restored
  bool reaches_back() const;  // and the one that the next step is computed on
  bool complete() const;      // nothing is left to compute: a resumed run that had come to its end
  bool training() const;      // somebody is at work
  Progress progress(Time now) const;
  Summary summary() const;
  const Replica& replica() const;
  const Past& past() const;
  // What a checkpoint holds: the oldest replica that a step may still be computed on, with what the
  // pool remembers of lossy updates, and the past up to there. Without delay: the present ones. The
  // way from there to the present is in the ledger.
  Footprint footprint() const;
  GenesisRecord genesis() const;  // the first record of its ledger
  const Job& job() const;
  const Layout& layout() const;
  const Digest& id() const;
  std::string name_of(LinkId link) const;  // the node's, or where it calls from

 private:
  class Run;
  std::unique_ptr<Run> run_;
};

}  // namespace wide::engine
