#include "wide/engine/strategy/step_round.h"

#include <algorithm>
#include <cmath>

#include "wide/engine/optimizer.h"
#include "wide/engine/replica.h"

namespace wide::engine {

namespace {
constexpr double kStrangeTimes = 1000;  // so many times the usual norm asks for a second opinion
constexpr std::size_t kOpinionsMax = 5;
}  // namespace

StepRound::StepRound(const Job& job, const Layout& layout, Step step, std::uint64_t base_chain,
                     codec::Lossy codec, double usual_norm, BufferPool& buffers)
    : job_(job),
      layout_(layout),
      step_(step),
      base_chain_(base_chain),
      codec_(codec),
      usual_norm_(usual_norm),
      board_(job.blocks_per_step()),
      tree_(job.blocks_per_step(), buffers),
      rows_(job.blocks_per_step()) {}

Verdict StepRound::offer(Subtree run, NodeId node, const Digest& class_hash, LeaseOutcome outcome) {
  const double norm = gradient_norm(outcome.value.sum.values);
  const bool finite = std::isfinite(norm) && std::isfinite(outcome.value.loss_sum);
  const bool strange = usual_norm_ > 0 && norm > kStrangeTimes * usual_norm_ * run.count;
  if (finite && !strange) {
    accept(run, node, norm, std::move(outcome));
    return Verdict::kAccepted;
  }
  if (run.count > 1) {
    doubt(run, node);
    return Verdict::kAgain;
  }
  const Verdict verdict = weigh(run.first, {node, class_hash, outcome.rows[0].sha256, finite});
  if (verdict == Verdict::kAccepted) accept(run, node, norm, std::move(outcome));
  if (verdict == Verdict::kAgain) doubt(run, node);
  return verdict;
}

Verdict StepRound::weigh(Block block, Claim claim) {
  auto& claims = claims_[block];
  for (const Claim& earlier : claims) {
    if (!claim.finite && !earlier.finite) return Verdict::kDiverged;
    // Bits are compared only inside a class; across classes a second strange result will do.
    const bool agree = earlier.class_hash == claim.class_hash ? earlier.sha256 == claim.sha256
                                                              : claim.finite && earlier.finite;
    if (agree) return Verdict::kAccepted;
  }
  claims.push_back(std::move(claim));
  return claims.size() < kOpinionsMax ? Verdict::kAgain : Verdict::kDisputed;
}

void StepRound::doubt(Subtree run, NodeId node) {
  for (Block block = run.first; block < run.end(); ++block) board_.doubt(block, node);
  board_.release(run);
}

void StepRound::accept(Subtree run, NodeId node, double norm, LeaseOutcome outcome) {
  board_.finish(run);
  norm_sum_ += norm;
  for (Block i = 0; i < run.count; ++i) {
    rows_[run.first + i] = {run.first + i, node, outcome.rows[i].sha256};
  }
  tree_.add(run, std::move(outcome.value));
}

void StepRound::credit(const Contributor& part) {
  auto [place, first] = contributors_.try_emplace(part.node, part);
  if (first) return;
  place->second.units += part.units;
  place->second.loss_sum += part.loss_sum;
}

void StepRound::made_by(Block block, NodeId helper) { rows_[block].node = helper; }

CommitRecord StepRound::close() {
  TreeValue root = tree_.take_root();
  divide_root(job_, layout_.parameter_count, root.sum.values);

  CommitRecord record;
  record.step = step_;
  record.gradient_codec = static_cast<std::uint8_t>(codec_);
  record.loss = root.loss_sum / static_cast<double>(job_.samples_per_step());
  for (auto& [node, contributor] : contributors_) {
    record.contributors.push_back(std::move(contributor));
  }
  record.rows = rows_;
  record.update = std::move(root.sum);
  return record;
}

bool StepRound::agrees(const wire::LeaseResult& late) const {
  for (std::size_t i = 0; i < late.rows.size(); ++i) {
    const std::size_t block = late.first_block + i;
    if (block >= rows_.size()) return false;
    const LedgerRow& row = rows_[block];
    if (!row.sha256.is_zero() && row.sha256 != late.rows[i].sha256) return false;
  }
  return true;
}

}  // namespace wide::engine
