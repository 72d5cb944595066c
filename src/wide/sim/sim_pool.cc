#include "wide/sim/sim_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace wide::sim {

namespace {

using namespace std::chrono_literals;

constexpr Duration kFarewellMax = 2s;

bool is_usual(Errc code) { return code == Errc::kLinkLost || code == Errc::kPeerSilent; }

bool finite(const wire::LeaseResult& result) {
  if (result.sum.codec != 0) return true;  // nobody here spoils what is coded
  return std::ranges::all_of(wire::floats_of(result.sum).values,
                             [](float value) { return std::isfinite(value); });
}

// For a step that may be open, computed on what it is to be computed on.
bool fits(const wire::LeaseResult& result, const engine::Pool& pool) {
  const engine::Replica& replica = pool.replica();
  const auto base = replica.weights_at(pool.job().base_of(result.step));
  return result.step >= replica.step() && base != nullptr && base->chain == result.base_chain &&
         finite(result);
}

}  // namespace

SimPool::SimPool(Stage& stage, SimNet& net, SimDisk& disk, const SimPlan& plan,
                 Reference& reference, Oracle& oracle)
    : stage_(stage), net_(net), disk_(disk), plan_(plan), reference_(reference), oracle_(oracle) {}

// --- Life and death ------------------------------------------------------------------------------

void SimPool::act(const std::function<void()>& deed) {
  try {
    deed();
  } catch (const SimCrash&) {
    stage_.happened(booting_ ? Fault::kPoolCrashInBoot : Fault::kPoolCrashInDisk);
    die(stage_.dice.chance(0.5));
  } catch (const ProcessEnd&) {
    die(false);
  }
}

void SimPool::later(Duration delay, std::function<void()> action) {
  stage_.queue.after(delay,
                     [this, life = life_, action = std::move(action)] { run(life, action); });
}

void SimPool::run(std::uint32_t life, const std::function<void()>& action) {
  if (life != life_ || !process_) return;
  if (awake_at() > stage_.now()) {
    stage_.queue.at(awake_at(), [this, life, action] { run(life, action); });
  } else {
    act(action);
  }
}

void SimPool::kill() {
  if (process_) die(false);
}

void SimPool::cut_power() {
  if (process_) die(true);
}

void SimPool::die(bool power) {
  stage_.tell("pool ended{}", power ? " with its machine" : "");
  ++life_;
  ++counts_.crashes;
  process_.reset();
  booting_ = false;
  paused_until_ = busy_until_ = {};
  net_.listen(nullptr);
  for (const LinkId link : std::exchange(links_, {})) {
    if (power) {
      net_.vanish(link, Side::kPool);
    } else {
      net_.fail(link, Side::kPool);
    }
  }
  if (power) {
    ++counts_.power_cuts;
    net_.set_dark(true);
    disk_.cut_power();
    oracle_.lost_power();
  } else {
    disk_.kill();
  }
  if (!healed_ && plan_.mix.has(Fault::kBitRot) && stage_.dice.chance(0.3)) disk_.rot();
  boot_later();
}

void SimPool::boot_later() {
  stage_.queue.after(stage_.dice.between(20ms, 3s), [this] { boot(); });
}

void SimPool::pause(Duration span) {
  stage_.tell("pool stands still for {:.3f} s", seconds(span));
  paused_until_ = stage_.now() + span;
}

void SimPool::crash_in_disk() {
  if (process_) disk_.crash_in(stage_.dice.within(1, 12));
}

void SimPool::stop() {
  if (!process_ || awake_at() > stage_.now()) return;
  act([this] {
    process_->pool.stop("interrupted", stage_.now(), process_->effects);
    settle();
  });
}

void SimPool::heal() {
  stage_.tell("faults end");
  healed_ = true;
  paused_until_ = std::min(paused_until_, stage_.now());
  disk_.set_faults({});
  disk_.set_room(SimDisk::kRoomBytes);
  disk_.crash_in(0);
  disk_.restore();
}

void SimPool::check() const {
  if (process_ && process_->keeper) oracle_.looks(process_->pool, *process_->keeper);
}

// --- What the links say --------------------------------------------------------------------------

void SimPool::opened(LinkId link, std::uint32_t tag) {
  if (!process_ || process_->finished) {
    net_.fail(link, Side::kPool);
    return;
  }
  links_.insert(link);
  act([&] {
    process_->pool.opened(link, fmt::format("machine {}", tag), stage_.now(), process_->effects);
    settle();
  });
}

void SimPool::heard(LinkId link) {
  if (process_) process_->pool.heard(link, stage_.now());
}

void SimPool::received(LinkId link, wire::Message message, std::size_t wire_bytes) {
  if (!process_) return;
  act([&] {
    const auto* result = std::get_if<wire::LeaseResult>(&message);
    const bool wrong = result != nullptr && !fits(*result, process_->pool);
    process_->pool.received(link, std::move(message), wire_bytes, stage_.now(), process_->effects);
    if (wrong) oracle_.takes_no_commit(process_->effects);
    settle();
  });
}

void SimPool::broken(LinkId link, const Error& why) {
  if (!net_.tampered(link)) stage_.broke("the pool could not read a frame: " + describe(why));
  if (!process_) return;
  act([&] {
    process_->pool.broken(link, why, stage_.now(), process_->effects);
    settle();
    net_.finish(link, Side::kPool, kFarewellMax);
  });
}

void SimPool::closed(LinkId link, const Error& why) {
  links_.erase(link);
  if (!process_) return;
  act([&] {
    process_->pool.closed(link, why, stage_.now(), process_->effects);
    settle();
  });
}

// --- What the pool wants -------------------------------------------------------------------------

void SimPool::settle() {
  while (!process_->effects.empty()) {
    engine::Effects effects = std::exchange(process_->effects, {});
    for (auto& effect : effects) std::visit([this](auto& any) { on(any); }, effect);
  }
  busy_until_ = std::max(busy_until_, stage_.now() + disk_.take_span());
  if (process_->finished) {
    end_run();
  } else {
    arm_tick();
  }
}

void SimPool::arm_tick() {
  const Time now = stage_.now();
  const Time due = std::max(process_->pool.next_tick(now), now + 1ms);
  if (process_->tick_at && *process_->tick_at <= due) return;
  process_->tick_at = due;
  later(due - now, [this, due] {
    if (process_->tick_at == due) tick();
  });
}

void SimPool::tick() {
  process_->tick_at.reset();
  process_->pool.tick(stage_.now(), process_->effects);
  settle();
}

void SimPool::on(engine::Send& send) {
  oracle_.sends(*send.packet);
  stage_.tell("  to link {}: {}", send.link.value, wire::kind_name(send.packet->kind));
  stage_.trace(0x5e4d, static_cast<std::uint64_t>(send.packet->kind));
  net_.send(send.link, Side::kPool, std::move(send.packet));
}

void SimPool::on(engine::SetLimits& limits) {
  net_.set_limits(limits.link, Side::kPool, limits.limits);
}

void SimPool::on(engine::Close& close) {
  if (!is_usual(close.why.code) && !net_.tampered(close.link)) {
    stage_.broke("the pool closed an honest link: " + describe(close.why));
  }
  net_.finish(close.link, Side::kPool, kFarewellMax);
}

void SimPool::on(engine::Note& note) {
  stage_.tell("pool: {} {}", note.event, note.facts);
  stage_.trace(0x407e, note.event.size());
}

void SimPool::on(engine::Finished& finished) {
  if (finished.error) stage_.broke("the run failed: " + describe(*finished.error));
  process_->finished = true;
}

bool SimPool::at_its_end() const {
  const engine::Past& past = process_->pool.past();
  const std::uint64_t planned = plan_.job.step_count(plan_.space.train_count);
  const bool done = planned > 0 ? past.steps >= planned : past.stopped;
  const bool evaluated =
      plan_.space.eval_count == 0 || (past.eval && past.eval->step == past.steps);
  return done && evaluated;
}

// Stopped by its owner, or at its end: everyone has been told, the process ends in peace.
void SimPool::end_run() {
  if (!process_->keeper->close()) {
    oracle_.failed_sync();
    throw ProcessEnd{};
  }
  if (at_its_end()) {
    over_ = true;
    summary_ = process_->pool.summary();
    disk_.set_faults({});
    disk_.crash_in(0);
    disk_.restore();
    oracle_.ended(process_->pool);
  }
  ++life_;
  process_.reset();
  net_.listen(nullptr);
  for (const LinkId link : std::exchange(links_, {})) net_.finish(link, Side::kPool, kFarewellMax);
  if (!over_) boot_later();
}

}  // namespace wide::sim
