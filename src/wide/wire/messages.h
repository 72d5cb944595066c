#pragma once
// The closed set of messages between a pool and those who call it. Plain records;
// docs/wire-format.md draws every byte. Nothing here is code, and nothing can name a type or a
// path.
//
//   node                                  pool
//   Hello ───────────────────────────────▶
//        ◀─────────────────────────────── Welcome (the job) or Refused
//   WantSamples, Fetch ──────────────────▶   only where the node lacks the samples
//        ◀─────────────────────────────── Manifest, Chunks
//   Ready (class, replica held) ─────────▶
//   Want (n leases) ─────────────────────▶
//        ◀─────────────────────────────── Snapshot or Updates, then Leases
//   Result (a subtree's sum, and Want) ──▶
//        ◀─────────────────────────────── Update (or Committed), next Lease …; Yield to whoever is
//                                         waited for
//   Leave ───────────────────────────────▶
//        ◀─────────────────────────────── Bye

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "wide/base/buffer.h"
#include "wide/base/digest.h"
#include "wide/base/ids.h"

namespace wide::wire {

// Values as they travel. `codec` is a codec::Lossy, 0: float32 as they are. The limits know how
// long each may be.
struct Coded {
  std::uint8_t codec = 0;
  BufferPtr owner;
  std::span<const std::byte> bytes;
};

// Of codec 0; the floats lie where they came from.
Floats floats_of(const Coded& coded);
Coded as_they_are(Floats floats);

enum class Role : std::uint8_t {
  kNode = 1,      // wants to work
  kObserver = 2,  // wants status reports; gets a Welcome so that it can show the job
};

struct Hello {
  Role role = Role::kNode;
  std::uint16_t slots = 1;
  std::string program_version;
  std::string name;  // for people; the pool makes it unique
  Digest job_id;     // zero: any job; else the only one this node can work on
  // Among nodes of one machine that help each other; 0: none. Only a pool that has started them
  // asks what it is.
  std::uint16_t seat = 0;
};

struct Welcome {
  NodeId node;
  std::string name;  // as the pool will show it
  Digest job_id;
  Digest samples_sha256;
  Digest genesis_sha256;  // of the weights at step 0
  std::uint32_t heartbeat_ms = 1000;
  Step step = 0;         // where the run stands now
  std::string job_text;  // canonical
};

struct Refused {
  std::uint16_t code = 0;  // an Errc
  std::string reason;
};

// How many results a node may bring along when it comes back.
inline constexpr std::uint32_t kKeptCountMax = 64;

// Blocks whose sum a node has, or will have soon, from before its link broke.
struct KeptRun {
  Step step = 0;
  Block first_block = 0;
  Block block_count = 0;

  bool operator==(const KeptRun&) const = default;
};

struct Ready {
  std::string libraries;       // "libtorch 1.13.0, OpenBLAS 0.3.21"
  Digest class_hash;           // libraries plus the gradient of unit 0 on the genesis weights
  bool holds_replica = false;  // false: only genesis
  Step step = 0;
  std::uint64_t chain = 0;
  Step oldest = 0;            // of the versions that it still has
  std::vector<KeptRun> kept;  // worth a lease to whoever wants them
};

struct Want {
  std::uint32_t leases = 0;  // so many more may be sent
};

// Compute the blocks [first_block, first_block + block_count) of `step` on the replica at `base`.
struct Lease {
  LeaseId lease;
  Step step = 0;
  Step base = 0;  // the replica to compute on: `step`, less the job's delay
  std::uint64_t base_chain = 0;
  Block first_block = 0;
  Block block_count = 0;
  std::uint8_t codec = 0;  // every block is coded and decoded with it before it counts
  // Of a whole step: so many steps beyond those that are open may be computed next, unasked, each
  // from what came out of the ones before it. Their results name this lease, and want nothing.
  std::uint32_t steps_onward = 0;
};

// Another node will have `step`: do not begin it unasked.
struct Yield {
  Step step = 0;
};

struct BlockRow {
  Digest sha256;             // of the block's own value, before it was added to its neighbours'
  std::uint16_t helper = 0;  // the seat of who computed it; 0: who sends it
};

// Where a node's time went since it joined, in nanoseconds; summed over its slots.
struct NodeTimes {
  std::uint64_t compute_ns = 0;
  std::uint64_t encode_ns = 0;
  std::uint64_t network_ns = 0;
  std::uint64_t wait_ns = 0;
};

struct LeaseResult {
  LeaseId lease;
  Step step = 0;
  std::uint64_t base_chain = 0;
  Block first_block = 0;
  std::uint32_t want = 0;  // as Want: so many more leases may be sent
  double loss_sum = 0;     // over samples, through the same tree
  std::uint64_t compute_ns = 0;
  NodeTimes times;
  std::vector<BlockRow> rows;  // one per block of the lease
  // Parameters' gradients, then buffers. As they are: the sum over the lease. Coded: every block,
  // one behind another, where that is shorter.
  Coded sum;
};

// What the pool alone computes for a step, rounded once, applied by everyone.
struct StepScalars {
  float lr = 0;
  float clip_factor = 1;   // the update is multiplied by it
  float step_size = 0;     // adam: lr / (1 - beta1^t); sgd: lr
  float second_root = 1;   // adam: sqrt(1 - beta2^t)
  float decay_factor = 1;  // adamw: 1 - lr * weight_decay

  friend bool operator==(const StepScalars&, const StepScalars&) = default;
};

// Takes a replica from `step` to `step + 1`.
struct Update {
  Step step = 0;
  std::uint64_t chain_after = 0;
  StepScalars scalars;
  Coded values;  // mean gradient, then the new buffers, which are never coded
};

// In place of the Update, for a node that has computed all of `step` itself and gone on from it:
// what it made of that is what counts.
struct Committed {
  Step step = 0;
  std::uint64_t chain_after = 0;
};

// The whole replica at `step`: parameters, buffers, optimiser state, in layout order.
struct Snapshot {
  Step step = 0;
  std::uint64_t chain = 0;
  Digest state_hash;
  Floats state;
};

struct EvalLease {
  LeaseId lease;
  Step base = 0;
  std::uint64_t base_chain = 0;
  std::uint32_t first_unit = 0;
  std::uint32_t unit_count = 0;
};

struct EvalRow {
  double loss_sum = 0;
  std::uint64_t correct_count = 0;
};

struct EvalResult {
  LeaseId lease;
  Step base = 0;
  std::uint64_t base_chain = 0;
  std::uint32_t first_unit = 0;
  std::uint32_t want = 0;
  std::vector<EvalRow> rows;
};

struct Heartbeat {
  std::uint64_t units_done = 0;  // proves that the sender computes, not only that it lives
  NodeTimes times;               // of a node: so far
};

struct Leave {
  std::string reason;
};

struct Bye {
  std::uint16_t code = 0;  // 0: the run is over, or a leave is granted; else an Errc
  std::string reason;
  Step step = 0;      // the replica that the pool ended with
  Digest state_hash;  // zero where it was not computed
};

// "My replica is not the one you think": the pool answers with a snapshot.
struct Resync {
  Step step = 0;
  std::uint64_t chain = 0;
  std::string reason;
};

struct StatusRequest {};

struct NodeStatus {
  std::string name;
  std::uint16_t slots = 0;
  std::uint32_t leases_in_flight = 0;
  std::uint64_t units = 0;
  double samples_per_second = 0;
  double seconds_since_heard = 0;
  std::uint64_t rejected = 0;
  std::string state;  // "working", "idle", "joining"
};

struct StatusReport {
  std::string job_name;
  std::string state;  // "training", "evaluating", "waiting for nodes", …
  Step step = 0;
  Step steps_total = 0;  // 0: ends by time
  double epoch = 0;
  double loss = 0;
  double samples_per_second = 0;
  double elapsed_seconds = 0;
  double left_seconds = 0;  // estimate; 0: unknown
  std::vector<NodeStatus> nodes;
};

// Compute with no network for so long, every slot, and say how much was done.
struct Measure {
  std::uint32_t milliseconds = 0;
};

struct Measured {
  std::uint64_t units = 0;
  double seconds = 0;
};

// "I have not the samples of this job." The pool answers with the manifest, and where the job says
// ship = "always" with the samples of unit 0, for the numerics class.
struct WantSamples {};

struct Manifest {
  Bytes bytes;  // data/manifest.h reads them
};

struct ChunkName {
  std::uint64_t chunk = 0;
};

// Chunks of the manifest, the most urgent first. Each comes back as a Chunk, in this order.
struct Fetch {
  std::vector<ChunkName> chunks;
};

struct Chunk {
  std::uint64_t chunk = 0;
  Bytes bytes;
};

// ship = "always": the samples of the lease behind this message, as records side by side.
struct Samples {
  bool held_out = false;
  std::uint64_t first = 0;  // a position of the sequence that training walks; held out: an index
  std::uint64_t count = 0;
  Bytes records;
};

// A small question that is always answered at once, by itself: how far away is the pool, how much
// does it bear? Whoever has said hello may ask.
struct Echo {
  std::uint64_t number = 0;
  std::string filler;
};

using Message = std::variant<Hello, Welcome, Refused, Ready, Want, Lease, LeaseResult, Update,
                             Snapshot, EvalLease, EvalResult, Heartbeat, Leave, Bye, Resync,
                             StatusRequest, StatusReport, Measure, Measured, WantSamples, Manifest,
                             Fetch, Chunk, Samples, Echo, Yield, Committed>;

}  // namespace wide::wire
