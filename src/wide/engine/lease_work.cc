#include "wide/engine/lease_work.h"

#include <algorithm>

#include "wide/base/check.h"
#include "wide/base/piece_digest.h"
#include "wide/engine/block_codec.h"
#include "wide/engine/float_kernels.h"

namespace wide::engine {

namespace {

struct UnitRun {
  Unit first = 0;
  Unit count = 0;
};

// The last block of a step may have fewer units.
UnitRun units_of(const Job& job, Block block) {
  const auto first = block * job.train.block_units;
  return {first, std::min(job.train.block_units, job.train.units_per_step - first)};
}

TreeValue compute_unit(UnitComputer& computer, const Layout& layout, const Weights& weights,
                       Step step, Unit unit, BufferPool& buffers) {
  TreeValue value{take_floats(buffers, layout.value_count()), 0};
  value.loss_sum = computer.gradient(weights, step, unit, value.sum.values);
  clear_negative_zeros(value.sum.values.data(), value.sum.size());
  return value;
}

TreeValue sum_of_units(UnitComputer& computer, const Job& job, const Layout& layout,
                       const Weights& weights, Step step, Block block, BufferPool& buffers) {
  const auto units = units_of(job, block);
  if (units.count == 1) {
    return compute_unit(computer, layout, weights, step, units.first, buffers);
  }
  SumTree tree(units.count, buffers);
  for (Unit i = 0; i < units.count; ++i) {
    tree.add({i, 1}, compute_unit(computer, layout, weights, step, units.first + i, buffers));
  }
  return tree.take_root();
}

Digest hash_of(const TreeValue& value) {
  Sha256 hash;
  update_by_pieces(hash, value.sum.bytes());
  return hash.update(std::as_bytes(std::span(&value.loss_sum, 1))).finish();
}

// Codes the blocks of a lease one after another. Where all of them together are longer than their
// sum, nobody keeps the codes.
class BlockCoder final {
 public:
  BlockCoder(codec::Lossy codec, const Job& job, const Layout& layout, const wire::Lease& lease,
             BufferPool& buffers)
      : codec_(codec), seed_(job.seed), layout_(layout), lease_(lease) {
    if (codec_ == codec::Lossy::kNone) return;
    bytes_ = block_bytes(codec_, layout_);
    keeps_ = bytes_ * lease.block_count < layout_.value_count() * sizeof(float);
    owner_ = buffers.take(keeps_ ? bytes_ * lease.block_count : bytes_);
  }

  // The block's value becomes what its code decodes to.
  void code(Block index, std::span<float> value) {
    if (codec_ == codec::Lossy::kNone) return;
    const std::size_t at = keeps_ ? bytes_ * index : 0;
    code_block(codec_, layout_, {seed_, lease_.step, lease_.first_block + index}, value,
               owner_->first(at + bytes_).subspan(at));
  }

  bool worth_sending() const { return keeps_; }
  wire::Coded take() {
    const auto coded = owner_->first(bytes_ * lease_.block_count);
    return {static_cast<std::uint8_t>(codec_), std::move(owner_), coded};
  }

 private:
  codec::Lossy codec_;
  std::uint64_t seed_;
  const Layout& layout_;
  const wire::Lease& lease_;
  std::uint64_t bytes_ = 0;
  bool keeps_ = false;
  BufferPtr owner_;
};

}  // namespace

BlockValue compute_block(UnitComputer& computer, const Job& job, const Layout& layout,
                         const Weights& weights, Step step, Block block, BufferPool& buffers) {
  BlockValue computed{sum_of_units(computer, job, layout, weights, step, block, buffers), {}};
  computed.sha256 = hash_of(computed.value);
  return computed;
}

LeaseOutcome compute_lease(UnitComputer& computer, const Job& job, const Layout& layout,
                           const Weights& weights, const wire::Lease& lease, BufferPool& buffers) {
  WIDE_CHECK(is_subtree({lease.first_block, lease.block_count}, job.blocks_per_step()));
  LeaseOutcome outcome;
  outcome.rows.reserve(lease.block_count);
  BlockCoder coder(static_cast<codec::Lossy>(lease.codec), job, layout, lease, buffers);
  // An aligned subtree has the shape of a whole tree over its own blocks.
  SumTree tree(lease.block_count, buffers);
  for (Block i = 0; i < lease.block_count; ++i) {
    auto value =
        sum_of_units(computer, job, layout, weights, lease.step, lease.first_block + i, buffers);
    coder.code(i, value.sum.values);
    outcome.rows.push_back({hash_of(value)});
    tree.add({i, 1}, std::move(value));
  }
  outcome.value = tree.take_root();
  outcome.sent = coder.worth_sending() ? coder.take() : wire::as_they_are(outcome.value.sum);
  return outcome;
}

HelpedLease::HelpedLease(UnitComputer& computer, const Job& job, const Layout& layout,
                         Weights weights, const wire::Lease& lease, BufferPool& buffers, Kin& kin)
    : computer_(computer),
      job_(job),
      layout_(layout),
      weights_(std::move(weights)),
      lease_(lease),
      buffers_(buffers),
      kin_(kin),
      tree_(lease.block_count, buffers),
      rows_(lease.block_count),
      added_from_(lease.block_count) {
  WIDE_CHECK(is_subtree({lease.first_block, lease.block_count}, job.blocks_per_step()));
  WIDE_CHECK(static_cast<codec::Lossy>(lease.codec) == codec::Lossy::kNone);
}

bool HelpedLease::compute_next() {
  const auto place = kin_.take();
  if (!place) return false;
  compute(*place);
  own_end_ = *place + 1;
  collect_what_has_come();
  return true;
}

// Before the end, when others would wait for it.
void HelpedLease::collect_what_has_come() {
  while (added_from_ > own_end_ && kin_.has_come(added_from_ - 1)) {
    auto block = kin_.collect(added_from_ - 1, buffers_);
    if (!block) return;  // it was lost again
    add(--added_from_, std::move(*block));
  }
}

bool HelpedLease::all_come() const {
  for (Block place = own_end_; place < added_from_; ++place) {
    if (!kin_.has_come(place)) return false;
  }
  return true;
}

// The last one that was taken is the last to come.
LeaseOutcome HelpedLease::finish() {
  for (Block place = added_from_; place-- > own_end_;) {
    if (auto block = kin_.collect(place, buffers_)) {
      add(place, std::move(*block));
    } else {
      compute(place);
    }
  }
  LeaseOutcome outcome;
  outcome.rows = std::move(rows_);
  outcome.value = tree_.take_root();
  outcome.sent = wire::as_they_are(outcome.value.sum);
  return outcome;
}

void HelpedLease::add(Block place, BlockValue block) {
  rows_[place] = {block.sha256, block.helper};
  tree_.add({place, 1}, std::move(block.value));
}

void HelpedLease::compute(Block place) {
  ++computed_count_;
  add(place, compute_block(computer_, job_, layout_, weights_, lease_.step,
                           lease_.first_block + place, buffers_));
}

Result<LeaseOutcome> open_result(wire::LeaseResult result, const Layout& layout,
                                 BufferPool& buffers) {
  LeaseOutcome outcome;
  outcome.value.loss_sum = result.loss_sum;
  outcome.rows = std::move(result.rows);
  const auto codec = static_cast<codec::Lossy>(result.sum.codec);
  if (codec == codec::Lossy::kNone) {
    outcome.value.sum = wire::floats_of(result.sum);
    return outcome;
  }
  auto sum = sum_of_blocks(codec, layout, result.sum.bytes, static_cast<Block>(outcome.rows.size()),
                           buffers);
  if (!sum) return tl::unexpected(std::move(sum.error()));
  outcome.value.sum = std::move(*sum);
  return outcome;
}

std::vector<wire::EvalRow> compute_eval_lease(UnitComputer& computer, const Job& job,
                                              const SampleSpace& space, const Weights& weights,
                                              const wire::EvalLease& lease) {
  WIDE_CHECK(std::uint64_t{lease.first_unit} + lease.unit_count <= eval_unit_count(job, space));
  std::vector<wire::EvalRow> rows;
  rows.reserve(lease.unit_count);
  for (std::uint32_t i = 0; i < lease.unit_count; ++i) {
    const auto first = std::uint64_t{lease.first_unit + i} * job.eval.batch;
    const auto count = std::min<std::uint64_t>(job.eval.batch, space.eval_count - first);
    const auto found = computer.evaluate(weights, first, count);
    rows.push_back({found.loss_sum, found.correct_count});
  }
  return rows;
}

std::uint32_t eval_unit_count(const Job& job, const SampleSpace& space) {
  return static_cast<std::uint32_t>((space.eval_count + job.eval.batch - 1) / job.eval.batch);
}

Digest numerics_class(UnitComputer& computer, const std::string& libraries, const Layout& layout,
                      const Weights& genesis, BufferPool& buffers) {
  const auto value = compute_unit(computer, layout, genesis, 0, 0, buffers);
  const auto length = static_cast<std::uint64_t>(libraries.size());
  return Sha256()
      .update(std::as_bytes(std::span(&length, 1)))
      .update(libraries)
      .update(hash_of(value).bytes)
      .finish();
}

}  // namespace wide::engine
