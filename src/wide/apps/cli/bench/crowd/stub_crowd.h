#pragma once
// Many nodes in one process: the real engine::Node each, over a socket of its own, with gradients
// that are made up (engine/stub_computer.h) and computed at once. What they cost is small, so that
// what the pool costs can be seen.

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "wide/apps/cli/bench/loopback.h"
#include "wide/base/buffer.h"
#include "wide/engine/genesis.h"
#include "wide/engine/node/node.h"
#include "wide/engine/stub_computer.h"
#include "wide/wire/frame_reader.h"
#include "wide/wire/frame_writer.h"

namespace wide::apps::bench {

class StubCrowd final {
 public:
  // Of a job with synthetic samples. Everyone has joined and asked for work when this returns.
  StubCrowd(Poller& poller, std::uint16_t port, std::size_t count, const std::string& job_text);
  StubCrowd(const StubCrowd&) = delete;  // the poller knows where it is
  StubCrowd& operator=(const StubCrowd&) = delete;

  Step step() const;            // of whoever has come furthest
  std::uint64_t units() const;  // computed by all of them

 private:
  class StubNode final : public Watched {
   public:
    StubNode(StubCrowd& crowd, std::uint16_t port, std::size_t number);
    void readable() override;
    void writable() override { flush(); }
    void tick();
    const engine::Node& node() const { return node_; }
    bool at_work() const { return at_work_; }

   private:
    void settle();
    void on(engine::Prepare& prepare);
    void on(engine::Compute& compute);
    void on(engine::ComputeEval& compute);
    void on(engine::MeasureSlots& measure);
    void on(engine::NodeSend& send);
    void on(engine::NodeSetLimits& limits);
    void on(engine::Hangup& hangup);
    void on(engine::NodeNote& note);
    void flush();

    StubCrowd& crowd_;
    Descriptor socket_;
    engine::Node node_;
    engine::NodeEffects effects_;
    wire::FrameReader reader_;
    wire::FrameWriter writer_;
    bool at_work_ = false;
    bool wants_room_ = false;
  };

  void await_all();
  void beat();

  Poller& poller_;
  BufferPool buffers_;
  engine::Job job_;
  SampleSpace space_;
  engine::Genesis genesis_;
  engine::StubFactory factory_;
  std::unique_ptr<engine::UnitComputer> computer_;  // pure, so one for all
  wire::Segments segments_;
  std::deque<StubNode> nodes_;
  Time beaten_at_{};
  std::uint64_t beats_ = 0;
};

}  // namespace wide::apps::bench
