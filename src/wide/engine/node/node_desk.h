#pragma once
// For tests: a node at the other end of a hand-held pool. What one sends the other gets, when the
// test says.

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <vector>

#include "wide/base/check.h"
#include "wide/engine/lead_replica.h"
#include "wide/engine/node/node.h"
#include "wide/engine/pool/pool_desk.h"
#include "wide/engine/strategy/step_round.h"

namespace wide::engine {

class NodeDesk final {
 public:
  explicit NodeDesk(std::uint16_t slots = 1, std::uint32_t delay = 0)
      : job(job_with(delay)),
        node({"n", slots, "test"}, buffers),
        computer(factory.make_computer()) {}
  static Job job_with(std::uint32_t delay) {
    Job job = desk_job(4, 100);
    job.delay = delay;
    return job;
  }

  template <class T>
  std::vector<T> effects_of() const {
    std::vector<T> found;
    for (const auto& effect : effects) {
      if (const T* wanted = std::get_if<T>(&effect)) found.push_back(*wanted);
    }
    return found;
  }
  std::vector<wire::Kind> sent() const {
    std::vector<wire::Kind> kinds;
    for (const auto& send : effects_of<NodeSend>()) kinds.push_back(send.packet->kind);
    return kinds;
  }

  wire::Welcome welcome() const {
    wire::Welcome welcome;
    welcome.job_id = job_id(job, space.sha256);
    welcome.samples_sha256 = space.sha256;
    welcome.genesis_sha256 = genesis.sha256();
    welcome.job_text = canonical_text(job);
    return welcome;
  }

  void join() {
    node.connected(now, effects);
    node.received(welcome(), now, effects);
    node.prepared(space, genesis, "libs", sha256("class"), now, effects);
    effects.clear();
  }
  wire::Lease lease(std::uint64_t id, Block first, Block count) const {
    return {{id}, node.replica()->step(), node.replica()->step(), node.replica()->chain(), first,
            count};
  }
  void update() {
    wire::Update next;
    const Floats values = take_floats(buffers, layout.value_count());
    std::ranges::fill(values.values, 0.0f);
    next.step = node.replica()->step();
    next.values = wire::as_they_are(values);
    next.chain_after = chain_next(node.replica()->chain(), next.step, next.scalars, values);
    node.received(next, now, effects);
  }
  // What a pool sends when it has committed a step that one node computed whole.
  wire::Update committed(const Compute& whole) {
    StepRound round(job, layout, lead.step(), whole.weights->chain, codec::Lossy::kNone, 0,
                    buffers);
    round.board().take({0, job.blocks_per_step()});
    round.offer({0, job.blocks_per_step()}, {1}, sha256("class"),
                compute_lease(*computer, job, layout, whole.weights, whole.lease, buffers));
    CommitRecord record = round.close();
    lead.begin(record, job.step_count(space.train_count));
    const CodedUpdate coded = lead.code(record);
    lead.finish(record, coded);
    WIDE_CHECK(lead.advance(record, coded));
    return {record.step, record.chain_after, record.scalars, coded.sent};
  }
  // The one task that was begun since the last call.
  Compute begun() {
    const auto tasks = effects_of<Compute>();
    WIDE_CHECK(tasks.size() == 1);
    effects.clear();
    return tasks.at(0);
  }
  void compute(const Compute& task) { compute(task, span); }
  void compute(const Compute& task, Duration taken) {
    auto outcome = compute_lease(*computer, job, layout, task.weights, task.lease, buffers);
    if (spoilt) outcome.value.sum.values[0] = std::numeric_limits<float>::quiet_NaN();
    node.computed(task.task, std::move(outcome), taken, now, effects);
    node.drained(now, effects);
  }
  // All that it is told comes at once.
  template <class... Message>
  void tell(Message... message) {
    (node.received(std::move(message), now, effects), ...);
    node.drained(now, effects);
  }

  BufferPool buffers;
  Job job;
  SampleSpace space = desk_space();
  Genesis genesis = make_genesis(job, space);
  Layout layout = genesis.layout;
  StubFactory factory{job, layout};
  Node node;
  std::unique_ptr<UnitComputer> computer;
  LeadReplica lead{job, genesis, chain_genesis(job_id(job, space.sha256), genesis.sha256()),
                   buffers};
  NodeEffects effects;
  Time now = std::chrono::seconds(1);
  Duration span = std::chrono::milliseconds(1);  // that a task takes
  bool spoilt = false;                           // and what comes out
};

}  // namespace wide::engine
