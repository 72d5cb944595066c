#pragma once
// A simulated node: the real engine::Node in a process that dials, computes, is stopped, killed and
// started again, and that may send what can be seen to be wrong. Drives the engine as
// net/node_client.cc does.

#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "wide/engine/node/node.h"
#include "wide/sim/reference.h"
#include "wide/sim/sim_net.h"
#include "wide/sim/sim_plan.h"
#include "wide/sim/stage.h"

namespace wide::sim {

// Two wrong sums of one block would be believed: whoever lies about one lies alone.
using DoubtedBlocks = std::set<std::pair<Step, Block>>;

class SimNode final : public LinkOwner {
 public:
  SimNode(Stage& stage, SimNet& net, const SimPlan& plan, Reference& reference,
          DoubtedBlocks& doubted, std::uint32_t machine);

  void start();                  // where no process runs
  void end(bool machine_lives);  // the process is gone; started again after a while
  void pause(Duration span);
  void leave();
  void set_slowness(double times) { slowness_ = times; }
  void send_garbage();
  void send_out_of_order();
  void heal();  // awake, as fast as ever, and honest from now on

  bool running() const { return process_ != nullptr; }
  std::optional<LinkId> link() const;

  Time awake_at() const override { return paused_until_; }
  void opened(LinkId link, std::uint32_t tag) override;
  void unanswered(std::uint32_t tag) override;
  void heard(LinkId link) override;
  void received(LinkId link, wire::Message message, std::size_t wire_bytes) override;
  void broken(LinkId link, const Error& why) override;
  void closed(LinkId link, const Error& why) override;

 private:
  struct Process {
    engine::Node node;
    std::unique_ptr<engine::UnitComputer> computer;
    engine::NodeEffects effects;
    std::optional<LinkId> link;
    Time heard_at{};
    Duration backoff{};
    Time slot_free_at{};
    bool contacted = false;
    bool announced = false;  // on this link
    bool over = false;
  };

  void later(Duration delay, std::function<void()> action);
  void run(std::uint32_t life, const std::function<void()>& action);
  void dial_later();
  void beat();
  void unlink();

  void settle();
  void on(engine::Prepare& prepare);
  void on(engine::Compute& compute);
  void on(engine::ComputeEval& compute);
  void on(engine::MeasureSlots&) {}
  void on(engine::NodeSend& send);
  void on(engine::NodeSetLimits& limits);
  void on(engine::Hangup& hangup);
  void on(engine::NodeNote& note);
  void finish(const engine::Compute& compute, Duration span);
  void lose_replica();

  void send(const wire::SharedPacket& packet);
  bool lie(const wire::Packet& packet);
  bool distort(Fault lie, wire::LeaseResult& result);
  bool answer_for_another_block(wire::LeaseResult& result);

  Stage& stage_;
  SimNet& net_;
  const SimPlan& plan_;
  Reference& reference_;
  DoubtedBlocks& doubted_;
  std::uint32_t machine_;
  std::unique_ptr<Process> process_;
  std::uint32_t life_ = 0;  // counts processes: what belongs to an older one is void
  Time paused_until_{};
  double slowness_ = 1;
  bool honest_ = false;
};

}  // namespace wide::sim
