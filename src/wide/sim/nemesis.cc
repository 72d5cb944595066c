#include "wide/sim/nemesis.h"

#include <algorithm>
#include <array>

namespace wide::sim {

namespace {

using namespace std::chrono_literals;

// Faults that fall from the sky. The others come with what somebody does: a lie with a result, an
// I/O error with an operation.
constexpr std::array kSudden = {Fault::kReset,      Fault::kBlackHole,    Fault::kPartition,
                                Fault::kClog,       Fault::kSlowReader,   Fault::kSingleBytes,
                                Fault::kBitFlip,    Fault::kDiskFull,     Fault::kSlowDisk,
                                Fault::kPoolKill,   Fault::kPoolPowerCut, Fault::kPoolCrashInDisk,
                                Fault::kPoolPause,  Fault::kPoolStop,     Fault::kNodeKill,
                                Fault::kNodeVanish, Fault::kNodeLeave,    Fault::kNodePause,
                                Fault::kNodeSlow,   Fault::kOutOfOrder,   Fault::kGarbage};

}  // namespace

Nemesis::Nemesis(Stage& stage, SimNet& net, SimDisk& disk, SimPool& pool,
                 std::vector<std::unique_ptr<SimNode>>& nodes, const SimPlan& plan)
    : stage_(stage), net_(net), disk_(disk), pool_(pool), nodes_(nodes), plan_(plan) {
  for (const Fault fault : kSudden) {
    if (!plan_.mix.has(fault)) continue;
    choices_.push_back(fault);
    weight_sum_ += plan_.mix[fault];
  }
}

void Nemesis::begin() {
  if (plan_.faults_end > Time{}) {
    disk_.set_faults(plan_.disk);
    if (!choices_.empty()) strike_later();
    stage_.queue.at(plan_.faults_end, [this] { heal(); });
  } else {
    heal();
  }
}

void Nemesis::strike_later() {
  stage_.queue.after(stage_.dice.between(0ns, 2 * plan_.fault_gap), [this] { strike(); });
}

void Nemesis::strike() {
  if (over_) return;
  double at = stage_.dice.uniform() * weight_sum_;
  Fault chosen = choices_.back();
  for (const Fault fault : choices_) {
    chosen = fault;
    at -= plan_.mix[fault];
    if (at < 0) break;
  }
  // Lies and crashes inside the disk are counted where they happen.
  if (strike_net(chosen) || strike_pool(chosen) || strike_node(chosen)) stage_.happened(chosen);
  strike_later();
}

SimNode& Nemesis::some_node() { return *nodes_[stage_.dice.below(nodes_.size())]; }

// Mostly short, now and then long.
Duration Nemesis::some_time(Duration most) {
  const double part = stage_.dice.uniform();
  return Duration(static_cast<std::int64_t>(double(most.count()) * part * part));
}

bool Nemesis::strike_net(Fault fault) {
  const auto machine = static_cast<std::uint32_t>(stage_.dice.below(nodes_.size()));
  if (fault == Fault::kPartition) {
    net_.block(machine, stage_.dice.pick({Side::kNode, Side::kPool}),
               stage_.now() + some_time(20s));
    return true;
  }
  const auto links = net_.links();
  if (links.empty()) return false;
  const LinkId link = links[stage_.dice.below(links.size())];
  const Side side = stage_.dice.pick({Side::kNode, Side::kPool});
  switch (fault) {
    case Fault::kReset:
      return net_.reset(link), true;
    case Fault::kBlackHole:
      return net_.swallow(link), true;
    case Fault::kClog:
      return clog(), true;
    case Fault::kSlowReader:
      return net_.read_slowly(link, side, stage_.dice.within(1, 64)), true;
    case Fault::kSingleBytes:
      return net_.hand_over_singly(link), true;
    case Fault::kBitFlip:
      return net_.flip_next(link, side), false;  // counted when it is done
    default:
      return false;
  }
}

// Link after link stands still; they are released in an order of their own.
void Nemesis::clog() {
  for (const LinkId link : net_.links()) {
    stage_.queue.after(some_time(2s), [this, link, span = some_time(15s)] {
      if (!over_) net_.stall(link, stage_.now() + span);
    });
  }
}

bool Nemesis::strike_pool(Fault fault) {
  if (fault == Fault::kDiskFull) return fill_disk(), false;
  if (fault == Fault::kSlowDisk) return slow_disk(), true;
  if (!pool_.running()) return false;
  switch (fault) {
    case Fault::kPoolKill:
      return pool_.kill(), true;
    case Fault::kPoolPowerCut:
      return pool_.cut_power(), true;
    case Fault::kPoolCrashInDisk:
      return pool_.crash_in_disk(), false;
    case Fault::kPoolPause:
      return pool_.pause(some_time(30s)), true;
    case Fault::kPoolStop:
      return pool_.stop(), true;
    default:
      return false;
  }
}

void Nemesis::fill_disk() {
  disk_.set_room(stage_.dice.below(1500));
  stage_.queue.after(some_time(10s), [this] { disk_.set_room(SimDisk::kRoomBytes); });
}

void Nemesis::slow_disk() {
  DiskFaults slow = plan_.disk;
  slow.slowness = stage_.dice.pick({10.0, 100.0, 1000.0});
  disk_.set_faults(slow);
  stage_.queue.after(some_time(10s), [this] {
    if (!over_) disk_.set_faults(plan_.disk);
  });
}

bool Nemesis::strike_node(Fault fault) {
  SimNode& node = some_node();
  if (!node.running()) return false;
  switch (fault) {
    case Fault::kNodeKill:
      return node.end(true), true;
    case Fault::kNodeVanish:
      return node.end(false), true;
    case Fault::kNodeLeave:
      return node.leave(), true;
    case Fault::kNodePause:
      return node.pause(some_time(30s)), true;
    case Fault::kNodeSlow:
      return node.set_slowness(stage_.dice.pick({3.0, 10.0, 30.0})), true;
    case Fault::kGarbage:
      return node.send_garbage(), false;
    case Fault::kOutOfOrder:
      return node.send_out_of_order(), false;
    default:
      return false;
  }
}

void Nemesis::heal() {
  over_ = true;
  net_.clear();
  pool_.heal();
  for (const auto& node : nodes_) node->heal();
}

}  // namespace wide::sim
