#include "wide/sim/sim_node.h"

#include <fmt/format.h>

#include <algorithm>

#include "wide/engine/lease_work.h"

namespace wide::sim {

namespace {

using namespace std::chrono_literals;

constexpr Duration kHeartbeat = 1s;
constexpr Duration kSilenceMax = 6s;
constexpr Duration kFarewellMax = 2s;
constexpr Duration kFirstContactEvery = 200ms;
constexpr Duration kBackoffFirst = 500ms;
constexpr Duration kBackoffMost = 30s;
constexpr Duration kStallMost = 60s;

bool is_usual(Errc code) { return code == Errc::kLinkLost || code == Errc::kPeerSilent; }

}  // namespace

SimNode::SimNode(Stage& stage, SimNet& net, const SimPlan& plan, Reference& reference,
                 DoubtedBlocks& doubted, std::uint32_t machine)
    : stage_(stage),
      net_(net),
      plan_(plan),
      reference_(reference),
      doubted_(doubted),
      machine_(machine) {}

// --- A life --------------------------------------------------------------------------------------

void SimNode::start() {
  if (process_) return;
  stage_.tell("node {} started", machine_);
  ++life_;
  const engine::NodeOptions options{fmt::format("n{}", machine_), plan_.slots, "sim"};
  process_ = std::make_unique<Process>(Process{engine::Node(options, stage_.buffers),
                                               reference_.factory().make_computer(),
                                               {},
                                               {},
                                               stage_.now(),
                                               kBackoffFirst});
  net_.dial(*this, machine_, life_);
  later(stage_.dice.between(0ns, kHeartbeat), [this] { beat(); });
}

void SimNode::end(bool machine_lives) {
  if (!process_) return;
  stage_.tell("node {} ended, its machine {}", machine_, machine_lives ? "lives" : "does not");
  if (process_->link && machine_lives) net_.fail(*process_->link, Side::kNode);
  if (process_->link && !machine_lives) net_.vanish(*process_->link, Side::kNode);
  ++life_;
  process_.reset();
  paused_until_ = {};
  stage_.queue.after(stage_.dice.between(10ms, 4s), [this] { start(); });
}

void SimNode::later(Duration delay, std::function<void()> action) {
  stage_.queue.after(delay,
                     [this, life = life_, action = std::move(action)] { run(life, action); });
}

void SimNode::run(std::uint32_t life, const std::function<void()>& action) {
  if (life != life_ || !process_) return;
  if (paused_until_ > stage_.now()) {
    stage_.queue.at(paused_until_, [this, life, action] { run(life, action); });
  } else {
    action();
  }
}

void SimNode::pause(Duration span) {
  stage_.tell("node {} stands still for {:.3f} s", machine_, seconds(span));
  paused_until_ = stage_.now() + span;
}

void SimNode::leave() {
  if (!process_ || paused_until_ > stage_.now()) return;
  process_->node.leave("interrupted", stage_.now(), process_->effects);
  settle();
}

void SimNode::heal() {
  paused_until_ = std::min(paused_until_, stage_.now());
  slowness_ = 1;
  honest_ = true;
}

std::optional<LinkId> SimNode::link() const {
  return process_ ? process_->link : std::optional<LinkId>();
}

void SimNode::beat() {
  process_->node.tick(stage_.now(), process_->effects);
  const std::uint32_t life = life_;
  settle();
  if (life != life_) return;
  if (process_->link && stage_.now() - process_->heard_at > kSilenceMax) {
    net_.fail(*process_->link, Side::kNode);
    unlink();
    if (life != life_) return;
  }
  later(kHeartbeat, [this] { beat(); });
}

// --- Links ---------------------------------------------------------------------------------------

void SimNode::dial_later() {
  Duration wait = kFirstContactEvery;
  if (process_->contacted) {
    wait = stage_.dice.between(0ns, process_->backoff);
    process_->backoff = std::min(process_->backoff * 2, kBackoffMost);
  }
  later(wait, [this] { net_.dial(*this, machine_, life_); });
}

void SimNode::opened(LinkId link, std::uint32_t tag) {
  if (tag != life_ || !process_) {  // whoever called is gone
    net_.fail(link, Side::kNode);
    return;
  }
  stage_.tell("node {} has link {}", machine_, link.value);
  process_->link = link;
  process_->heard_at = stage_.now();
  process_->node.connected(stage_.now(), process_->effects);
  settle();
}

void SimNode::unanswered(std::uint32_t tag) {
  if (tag == life_ && process_) run(life_, [this] { dial_later(); });
}

void SimNode::heard(LinkId) {
  if (process_) process_->heard_at = stage_.now();
}

void SimNode::received(LinkId, wire::Message message, std::size_t) {
  if (!process_) return;
  if (std::holds_alternative<wire::Welcome>(message)) process_->backoff = kBackoffFirst;
  process_->contacted = true;
  process_->node.received(std::move(message), stage_.now(), process_->effects);
  process_->node.drained(stage_.now(), process_->effects);
  settle();
}

void SimNode::broken(LinkId link, const Error& why) {
  if (!net_.tampered(link)) stage_.broke("a node could not read a frame: " + describe(why));
  net_.fail(link, Side::kNode);
  if (process_) unlink();
}

void SimNode::closed(LinkId link, const Error&) {
  if (process_ && process_->link == link) unlink();
}

// The link is gone; the node, unless it was to end, dials again.
void SimNode::unlink() {
  stage_.tell("node {} lost its link", machine_);
  process_->link.reset();
  process_->announced = false;
  process_->node.closed(stage_.now());
  if (process_->over) {
    end(true);
  } else {
    dial_later();
  }
}

// --- What the node wants -------------------------------------------------------------------------

void SimNode::settle() {
  const std::uint32_t life = life_;
  while (life == life_ && !process_->effects.empty()) {
    engine::NodeEffects effects = std::exchange(process_->effects, {});
    for (auto& effect : effects) {
      if (life == life_) std::visit([this](auto& any) { on(any); }, effect);
    }
  }
}

void SimNode::on(engine::Prepare&) {
  later(stage_.dice.between(1ms, 300ms), [this] {
    process_->node.prepared(plan_.space, reference_.genesis(), reference_.factory().libraries(),
                            reference_.class_hash(), stage_.now(), process_->effects);
    settle();
  });
}

// However slow: what was begun before the faults end must not outlast the patience behind them.
void SimNode::on(engine::Compute& compute) {
  const Duration fair = plan_.block_span * compute.lease.block_count;
  Duration span = Duration(static_cast<std::int64_t>(double(fair.count()) * slowness_ *
                                                     (0.6 + 0.8 * stage_.dice.uniform())));
  if (!honest_ && stage_.dice.chance(plan_.stall_chance)) {
    stage_.happened(Fault::kStall);
    span *= 50;
  }
  span = std::min(span, fair * 2 + kStallMost);
  // One slot does one task after another.
  Time& free_at = process_->slot_free_at;
  free_at = plan_.slots == 1 ? std::max(free_at, stage_.now()) + span : stage_.now() + span;
  later(free_at - stage_.now(),
        [this, compute = std::move(compute), span] { finish(compute, span); });
}

void SimNode::finish(const engine::Compute& compute, Duration span) {
  const std::uint32_t life = life_;
  if (!honest_ && stage_.dice.chance(plan_.lost_replica_chance)) lose_replica();
  if (life != life_) return;
  auto outcome = engine::compute_lease(*process_->computer, plan_.job, reference_.genesis().layout,
                                       compute.weights, compute.lease, stage_.buffers);
  process_->node.computed(compute.task, std::move(outcome), span, stage_.now(), process_->effects);
  process_->node.drained(stage_.now(), process_->effects);
  settle();
}

// As if an update had gone missing. It must be noticed.
void SimNode::lose_replica() {
  if (!process_->announced) return;
  stage_.happened(Fault::kLostReplica);
  wire::Update stray;
  stray.step = process_->node.replica()->step();
  Floats values = take_floats(stage_.buffers, reference_.genesis().layout.value_count());
  std::ranges::fill(values.values, 0.5f);
  stray.values = wire::as_they_are(std::move(values));
  process_->node.received(std::move(stray), stage_.now(), process_->effects);
  settle();
}

void SimNode::on(engine::ComputeEval& compute) {
  const Duration span = stage_.dice.between(1ms, 4ms);
  later(span, [this, compute = std::move(compute), span] {
    auto rows = engine::compute_eval_lease(*process_->computer, plan_.job, plan_.space,
                                           compute.weights, compute.lease);
    process_->node.computed_eval(compute.task, std::move(rows), span, stage_.now(),
                                 process_->effects);
    settle();
  });
}

void SimNode::on(engine::NodeSend& send) {
  if (!process_->link) return;
  const bool result = send.packet->kind == wire::Kind::kResult;
  if (send.packet->kind == wire::Kind::kReady) process_->announced = true;
  if (result && !honest_ && stage_.dice.chance(plan_.lie_chance) && lie(*send.packet)) return;
  this->send(send.packet);
}

void SimNode::send(const wire::SharedPacket& packet) {
  if (process_->link) net_.send(*process_->link, Side::kNode, packet);
}

void SimNode::on(engine::NodeSetLimits& limits) {
  if (process_->link) net_.set_limits(*process_->link, Side::kNode, limits.limits);
}

void SimNode::on(engine::Hangup& hangup) {
  const bool expected = !hangup.error || is_usual(hangup.error->code) ||
                        (process_->link && net_.tampered(*process_->link));
  stage_.tell("node {} hangs up: {}", machine_, hangup.error ? describe(*hangup.error) : "");
  if (!expected) stage_.broke("a node hung up: " + describe(*hangup.error));
  if (hangup.final) process_->over = true;
  if (process_->link) {
    net_.finish(*process_->link, Side::kNode, kFarewellMax);
  } else if (process_->over) {
    end(true);
  }
}

void SimNode::on(engine::NodeNote& note) {
  stage_.tell("node {}: {}", machine_, note.text);
  if (note.text.find("DIFFERS") != std::string::npos) stage_.broke("I4: " + note.text);
}

}  // namespace wide::sim
