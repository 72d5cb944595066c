// What a simulated node sends that can be seen to be wrong.

#include <algorithm>
#include <array>
#include <limits>

#include "wide/base/check.h"
#include "wide/engine/lease_work.h"
#include "wide/engine/link_limits.h"
#include "wide/sim/sim_node.h"

namespace wide::sim {

namespace {

constexpr std::array kLies = {Fault::kRepeat,     Fault::kWrongStep,  Fault::kWrongBlock,
                              Fault::kWrongCount, Fault::kWrongChain, Fault::kUnknownLease,
                              Fault::kNotFinite};

wire::SharedPacket packed(wire::Message message) {
  return std::make_shared<const wire::Packet>(wire::encode(std::move(message)));
}

// The message again, in memory of its own.
wire::LeaseResult unpacked(const wire::Packet& packet, const wire::Limits& limits,
                           BufferPool& buffers) {
  wire::Segments segments;
  const std::size_t bytes = wire::body_bytes(packet);
  wire::add_body(packet, 0, bytes, segments);
  const BufferPtr owner = buffers.take(bytes);
  std::byte* to = owner->begin();
  for (const auto segment : segments) to = std::ranges::copy(segment, to).out;
  auto message = wire::decode(packet.kind, owner->first(bytes), owner, limits);
  WIDE_CHECK(message.has_value(), "what a node encoded can be decoded");
  return std::move(std::get<wire::LeaseResult>(*message));
}

}  // namespace

// False: nothing was sent.
bool SimNode::lie(const wire::Packet& packet) {
  std::vector<Fault> choices;
  for (const Fault fault : kLies) {
    if (plan_.mix.has(fault)) choices.push_back(fault);
  }
  if (choices.empty()) return false;
  const Fault chosen = choices[stage_.dice.below(choices.size())];
  const wire::Limits limits =
      engine::limits_for_job({}, plan_.job, reference_.genesis().layout, plan_.space);
  wire::LeaseResult result = unpacked(packet, limits, stage_.buffers);
  if (!distort(chosen, result)) return false;
  stage_.happened(chosen);
  if (chosen == Fault::kRepeat) {
    const auto same = packed(std::move(result));
    send(same);
    send(same);
    return true;
  }
  net_.taint(*process_->link);
  send(packed(std::move(result)));
  return true;
}

// False: it would not be wrong, or it would be believed.
bool SimNode::distort(Fault lie, wire::LeaseResult& result) {
  switch (lie) {
    case Fault::kWrongStep:
      result.step += stage_.dice.pick<Step>({1, 1000, ~Step{0}});
      return true;
    case Fault::kWrongBlock:
      return answer_for_another_block(result);
    case Fault::kWrongCount:
      if (result.rows.size() < 2) return false;
      if (result.sum.codec != 0) {  // block by block: one less
        const std::size_t block_bytes = result.sum.bytes.size() / result.rows.size();
        result.sum.bytes = result.sum.bytes.first(result.sum.bytes.size() - block_bytes);
      }
      result.rows.pop_back();
      return true;
    case Fault::kWrongChain:
      result.base_chain ^= 1;
      return true;
    case Fault::kUnknownLease:
      result.lease.value += 1'000'000;
      return true;
    case Fault::kNotFinite: {
      if (result.sum.codec != 0) return false;
      const float wrong = stage_.dice.pick(
          {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()});
      for (Block i = 0; i < result.rows.size(); ++i) {
        if (doubted_.contains({result.step, result.first_block + i})) return false;
      }
      for (Block i = 0; i < result.rows.size(); ++i) {
        doubted_.insert({result.step, result.first_block + i});
      }
      auto sum = wire::floats_of(result.sum);
      sum.values[stage_.dice.below(sum.size())] = wrong;
      return true;
    }
    default:
      return true;
  }
}

// The right sum of blocks that were not asked for.
bool SimNode::answer_for_another_block(wire::LeaseResult& result) {
  const auto count = static_cast<Block>(result.rows.size());
  const engine::Replica* replica = process_->node.replica();
  if (replica->chain() != result.base_chain) return false;
  wire::Lease lease;
  lease.step = lease.base = result.step;
  lease.first_block = result.first_block >= count ? result.first_block - count : count;
  lease.block_count = count;
  if (!engine::is_subtree({lease.first_block, count}, plan_.job.blocks_per_step())) return false;
  auto outcome = engine::compute_lease(*process_->computer, plan_.job, reference_.genesis().layout,
                                       replica->weights(), lease, stage_.buffers);
  result.first_block = lease.first_block;
  result.loss_sum = outcome.value.loss_sum;
  result.rows = std::move(outcome.rows);
  result.sum = std::move(outcome.sent);
  return true;
}

void SimNode::send_garbage() {
  if (!process_ || !process_->link) return;
  stage_.happened(Fault::kGarbage);
  std::array<std::byte, 100> bytes;
  for (auto& byte : bytes) byte = static_cast<std::byte>(stage_.dice.below(256));
  net_.send_raw(*process_->link, Side::kNode,
                std::span(bytes).first(1 + stage_.dice.below(bytes.size())));
}

void SimNode::send_out_of_order() {
  if (!process_ || !process_->link) return;
  stage_.happened(Fault::kOutOfOrder);
  net_.taint(*process_->link);
  switch (stage_.dice.below(4)) {
    case 0:
      return send(packed(wire::Hello{}));
    case 1:
      return send(packed(wire::Ready{}));
    case 2:
      return send(packed(wire::Bye{}));
    default:
      return send(packed(wire::Want{7}));
  }
}

}  // namespace wide::sim
