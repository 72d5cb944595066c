#include "wide/sim/sim_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "wide/engine/lease_work.h"
#include "wide/engine/node/node.h"
#include "wide/engine/stub_computer.h"
#include "wide/sim/event_queue.h"
#include "wide/wire/frame_reader.h"

namespace wide::sim {

namespace {

using namespace std::chrono_literals;

// One direction of a link: packets in, the same bytes out at the other end, later and in pieces.
struct Pipe {
  wire::FrameWriter writer;
  wire::FrameReader reader;
  Time free_at{};  // bytes keep their order

  Pipe(BufferPool& buffers, const wire::Limits& limits) : reader(buffers, limits) {}
};

struct SimNode {
  std::uint32_t number = 0;
  std::uint32_t life = 0;  // counts links and deaths: what belongs to an older life is void
  LinkId link;
  bool linked = false;
  std::unique_ptr<engine::Node> node;
  std::unique_ptr<engine::UnitComputer> computer;
  std::unique_ptr<Pipe> up;
  std::unique_ptr<Pipe> down;
};

class World final {
 public:
  World(const SimOptions& options, std::uint64_t event_max)
      : options_(options),
        event_max_(event_max),
        dice_(options.seed),
        queue_(dice_),
        genesis_(engine::make_genesis(options.job, options.space)),
        layout_(genesis_.layout),
        factory_(options.job, layout_),
        pool_(options.job, options.space, genesis_, pool_options(options), buffers_) {}

  SimOutcome run() {
    for (std::uint32_t i = 0; i < options_.nodes; ++i) {
      nodes_.push_back(std::make_unique<SimNode>());
      nodes_.back()->number = i;
      const auto born = dice_.between(0ms, 50ms);
      queue_.after(born, [this, i] { be_born(*nodes_[i]); });
    }
    queue_.after(1ms, [this] { tick(); });
    while (!pool_.finished() && outcome_.events < event_max_ && queue_.step()) ++outcome_.events;
    outcome_.finished = pool_.finished();
    outcome_.summary = pool_.summary();
    outcome_.simulated = queue_.now();
    return std::move(outcome_);
  }

 private:
  static engine::PoolOptions pool_options(const SimOptions& options) {
    engine::PoolOptions pool;
    pool.lease_blocks = options.lease_blocks;
    return pool;
  }

  void trace(std::uint64_t what) {
    const std::uint64_t words[] = {what, static_cast<std::uint64_t>(queue_.now().count())};
    outcome_.trace_hash = xxh3(std::as_bytes(std::span(words)), outcome_.trace_hash);
  }

  // --- the pool's side

  void tick() {
    pool_.tick(queue_.now(), effects_);
    carry_out();
    queue_.at(std::max(pool_.next_tick(queue_.now()), queue_.now() + 1ms), [this] { tick(); });
    for (auto& node : nodes_) {
      if (node->linked && queue_.now() - beat_at_ > 900ms) {
        node->node->tick(queue_.now(), node_effects_);
        carry_out(*node);
      }
    }
    if (queue_.now() - beat_at_ > 900ms) beat_at_ = queue_.now();
  }

  void carry_out() {
    engine::Effects effects;
    std::swap(effects, effects_);
    for (auto& effect : effects) std::visit([this](auto& any) { apply(any); }, effect);
  }

  void apply(engine::Send& send) {
    trace(send.link.value);
    if (SimNode* node = by_link(send.link)) {
      node->down->writer.push(std::move(send.packet));
      flush(*node, *node->down, false);
    }
  }
  void apply(engine::SetLimits& limits) {
    if (SimNode* node = by_link(limits.link)) node->up->reader.set_limits(limits.limits);
  }
  void apply(engine::Close& close) {
    if (SimNode* node = by_link(close.link)) {
      if (close.why.code != Errc::kLinkLost) broke(close.why.detail);
      cut(*node, false);
    }
  }
  void apply(engine::Append& append) { check_record(append.record); }
  void apply(engine::Note& note) { trace(note.event.size()); }
  void apply(engine::Evaluated&) {}
  // Simulated samples are a function of the seed: nobody lacks them.
  void apply(engine::SendManifest&) {}
  void apply(engine::SendChunk&) {}
  void apply(engine::SendSamples&) {}
  void apply(engine::Finished& finished) {
    if (finished.error) broke("the run failed: " + finished.error->detail);
  }

  void broke(std::string promise) { outcome_.violations.push_back(std::move(promise)); }

  // Steps are gapless, and each block is in its step exactly once.
  void check_record(const engine::CommitRecord& record) {
    if (record.step != committed_) {
      broke(fmt::format("step {} was committed after {}", record.step, committed_));
    }
    committed_ = record.step + 1;
    std::set<Block> blocks;
    for (const auto& row : record.rows) {
      if (row.sha256.is_zero()) broke(fmt::format("block {} has no hash", row.block));
      blocks.insert(row.block);
    }
    if (blocks.size() != options_.job.blocks_per_step() || blocks.size() != record.rows.size()) {
      broke(fmt::format("step {} has {} rows", record.step, record.rows.size()));
    }
  }

  // --- links

  SimNode* by_link(LinkId link) {
    for (auto& node : nodes_) {
      if (node->linked && node->link == link) return node.get();
    }
    return nullptr;
  }

  void dial(SimNode& node) {
    node.link = LinkId{next_link_++};
    node.linked = true;
    ++node.life;
    node.up = std::make_unique<Pipe>(buffers_, wire::Limits::for_stranger());
    node.down = std::make_unique<Pipe>(buffers_, wire::Limits::for_caller());
    pool_.opened(node.link, fmt::format("sim:{}", node.number), queue_.now(), effects_);
    carry_out();
    if (!node.linked) return;
    node.node->connected(queue_.now(), node_effects_);
    carry_out(node);
  }

  // The link is gone for both; the node, if it lives, dials again.
  void cut(SimNode& node, bool tell_pool) {
    if (!node.linked) return;
    node.linked = false;
    const std::uint32_t life = ++node.life;
    const LinkId link = node.link;
    if (node.node) node.node->closed(queue_.now());
    if (tell_pool) {
      queue_.after(dice_.between(0ms, 20ms), [this, link] {
        pool_.closed(link, {Errc::kLinkLost, "link cut"}, queue_.now(), effects_);
        carry_out();
      });
    }
    queue_.after(dice_.between(1ms, 500ms), [this, &node, life] {
      if (node.life == life && node.node) dial(node);
    });
  }

  // Everything queued leaves at once; it arrives later, in pieces, in order.
  void flush(SimNode& node, Pipe& pipe, bool up) {
    std::vector<std::span<const std::byte>> segments;
    std::vector<std::byte> bytes;
    while (!pipe.writer.empty()) {
      pipe.writer.gather(segments);
      std::size_t count = 0;
      for (const auto segment : segments) {
        bytes.insert(bytes.end(), segment.begin(), segment.end());
        count += segment.size();
      }
      pipe.writer.sent(count);
    }
    std::size_t from = 0;
    while (from < bytes.size()) {
      const std::size_t some = dice_.chance(0.2) ? 1 + dice_.below(200) : bytes.size();
      const std::size_t to = std::min(bytes.size(), from + some);
      pipe.free_at = std::max(pipe.free_at + 1ns, queue_.now() + dice_.between(20us, 3ms));
      std::vector<std::byte> piece(bytes.begin() + static_cast<std::ptrdiff_t>(from),
                                   bytes.begin() + static_cast<std::ptrdiff_t>(to));
      queue_.at(pipe.free_at, [this, &node, up, life = node.life, piece = std::move(piece)] {
        if (node.life == life) arrive(node, up, piece);
      });
      from = to;
    }
  }

  void arrive(SimNode& node, bool up, std::span<const std::byte> bytes) {
    const std::uint32_t life = node.life;
    Pipe& pipe = up ? *node.up : *node.down;
    while (!bytes.empty()) {
      const auto space = pipe.reader.space();
      const std::size_t count = std::min(space.size(), bytes.size());
      std::copy_n(bytes.begin(), count, space.begin());
      pipe.reader.filled(count);
      bytes = bytes.subspan(count);
      while (true) {
        auto next = pipe.reader.next();
        if (!next) {
          broke("a frame was refused: " + describe(next.error()));
          cut(node, true);
          return;
        }
        if (!*next) break;
        deliver(node, up, std::move(**next));
        if (node.life != life) return;
      }
    }
  }

  void deliver(SimNode& node, bool up, wire::Message message) {
    if (dice_.chance(options_.cut_chance)) {
      ++outcome_.cuts;
      cut(node, true);
      return;
    }
    if (up) {
      trace(message.index());
      pool_.received(node.link, std::move(message), node.up->reader.last_message_bytes(),
                     queue_.now(), effects_);
      carry_out();
    } else {
      node.node->received(std::move(message), queue_.now(), node_effects_);
      carry_out(node);
    }
  }

  // --- nodes

  void be_born(SimNode& node) {
    ++node.life;
    node.node = std::make_unique<engine::Node>(
        engine::NodeOptions{fmt::format("n{}", node.number), options_.slots, "sim"}, buffers_);
    node.computer = factory_.make_computer();
    dial(node);
  }

  void die(SimNode& node) {
    ++outcome_.kills;
    cut(node, true);
    ++node.life;
    node.node.reset();
    queue_.after(dice_.between(1ms, 2s), [this, &node] { be_born(node); });
  }

  void carry_out(SimNode& node) {
    engine::NodeEffects effects;
    std::swap(effects, node_effects_);
    const std::uint32_t life = node.life;
    for (auto& effect : effects) {
      if (node.life != life) return;
      std::visit([&](auto& any) { apply(node, any); }, effect);
    }
  }

  void apply(SimNode& node, engine::Prepare&) {
    auto genesis = std::make_shared<engine::WeightsVersion>();
    genesis->values = take_floats(buffers_, layout_.value_count());
    std::ranges::copy(genesis_.values, genesis->values.values.begin());
    const Digest class_hash =
        engine::numerics_class(*node.computer, factory_.libraries(), layout_, genesis, buffers_);
    node.node->prepared(options_.space, genesis_, factory_.libraries(), class_hash, queue_.now(),
                        node_effects_);
    carry_out(node);
  }

  void apply(SimNode& node, engine::Compute& compute) {
    Duration span = dice_.between(1ms, 4ms) * compute.lease.block_count;
    if (dice_.chance(options_.stall_chance)) {
      ++outcome_.stalls;
      span *= 50;
    }
    const bool dies = dice_.chance(options_.kill_chance);
    queue_.after(span, [this, &node, compute, span, dies, owner = node.node.get()] {
      if (node.node.get() != owner) return;
      if (dies) {
        die(node);
        return;
      }
      auto weights = compute.weights;
      if (dice_.chance(options_.corrupt_chance)) corrupt(node);
      auto outcome = engine::compute_lease(*node.computer, options_.job, layout_, weights,
                                           compute.lease, buffers_);
      node.node->computed(compute.task, std::move(outcome), span, queue_.now(), node_effects_);
      carry_out(node);
    });
  }

  // A replica that has lost its way: as if an update had gone missing. It must be noticed.
  void corrupt(SimNode& node) {
    if (!node.linked) return;
    wire::Update stray;
    stray.step = node.node->replica()->step();
    stray.values = take_floats(buffers_, layout_.value_count());
    std::ranges::fill(stray.values.values, 0.5f);
    node.node->received(std::move(stray), queue_.now(), node_effects_);
    carry_out(node);
  }

  void apply(SimNode& node, engine::ComputeEval& compute) {
    const Duration span = dice_.between(1ms, 4ms);
    queue_.after(span, [this, &node, compute, span, owner = node.node.get()] {
      if (node.node.get() != owner) return;
      auto rows = engine::compute_eval_lease(*node.computer, options_.job, options_.space,
                                             compute.weights, compute.lease);
      node.node->computed_eval(compute.task, std::move(rows), span, queue_.now(), node_effects_);
      carry_out(node);
    });
  }

  void apply(SimNode&, engine::MeasureSlots&) {}
  void apply(SimNode& node, engine::NodeSend& send) {
    if (!node.linked) return;
    node.up->writer.push(std::move(send.packet));
    flush(node, *node.up, true);
  }
  void apply(SimNode& node, engine::NodeSetLimits& limits) {
    if (node.linked) node.down->reader.set_limits(limits.limits);
  }
  void apply(SimNode& node, engine::Hangup& hangup) {
    if (hangup.error) broke("a node hung up: " + hangup.error->detail);
    cut(node, true);
  }
  void apply(SimNode&, engine::NodeNote&) {}

  const SimOptions& options_;
  std::uint64_t event_max_;
  Dice dice_;
  EventQueue queue_;
  BufferPool buffers_;
  engine::Genesis genesis_;
  engine::Layout layout_;
  engine::StubFactory factory_;
  engine::Pool pool_;
  engine::Effects effects_;
  engine::NodeEffects node_effects_;
  std::vector<std::unique_ptr<SimNode>> nodes_;
  std::uint64_t next_link_ = 1;
  Step committed_ = 0;
  Time beat_at_{};
  SimOutcome outcome_;
};

}  // namespace

SimOutcome simulate(const SimOptions& options, std::uint64_t event_max) {
  return World(options, event_max).run();
}

}  // namespace wide::sim
