#pragma once
// One exact step being gathered (strategy `sync`): blocks go out, sums come back, the root becomes
// the update that everyone applies.
//
// A result that is not finite, or far from what is usual, is not believed at first: its blocks go
// out again, one by one, to somebody else if there is one. A second opinion settles it. Statistics
// only ask for the second opinion; they never decide what counts.

#include <map>
#include <vector>

#include "wide/engine/job.h"
#include "wide/engine/layout.h"
#include "wide/engine/lease_work.h"
#include "wide/engine/ledger.h"
#include "wide/engine/pool/board.h"
#include "wide/engine/sum_tree.h"

namespace wide::engine {

enum class Verdict {
  kAccepted,
  kAgain,     // doubted: the blocks are free again
  kDiverged,  // two computations agree that the gradient is not finite
  kDisputed,  // many computations, and no two agree
};

class StepRound final {
 public:
  // `base_chain`: of the replica that the step is computed on. `usual_norm`: of a block's sum, over
  // the last steps; 0: not known yet.
  StepRound(const Job& job, const Layout& layout, Step step, std::uint64_t base_chain,
            codec::Lossy codec, double usual_norm, BufferPool& buffers);

  // `run` is out on the board and none of it is done.
  Verdict offer(Subtree run, NodeId node, const Digest& class_hash, LeaseOutcome outcome);

  void credit(const Contributor& part);      // what the record will say of the node
  void made_by(Block block, NodeId helper);  // not who handed it in

  // Once complete: what this round knows of the commit of its step; the rest is the replica's. The
  // tree gives its root away.
  CommitRecord close();

  Board& board() { return board_; }
  const Board& board() const { return board_; }
  Step step() const { return step_; }
  Step base() const { return job_.base_of(step_); }
  std::uint64_t base_chain() const { return base_chain_; }
  codec::Lossy codec() const { return codec_; }  // of its blocks
  bool complete() const { return tree_.complete(); }
  double mean_block_norm() const { return norm_sum_ / board_.count(); }

  // Does a late result say the same as what was accepted for its blocks? Only blocks that are done
  // are compared.
  bool agrees(const wire::LeaseResult& late) const;

 private:
  struct Claim {
    NodeId node;
    Digest class_hash;
    Digest sha256;
    bool finite = false;
  };

  Verdict weigh(Block block, Claim claim);
  void doubt(Subtree run, NodeId node);
  void accept(Subtree run, NodeId node, double norm, LeaseOutcome outcome);

  const Job& job_;
  const Layout& layout_;
  Step step_;
  std::uint64_t base_chain_;
  codec::Lossy codec_;
  double usual_norm_;

  Board board_;
  SumTree tree_;
  std::vector<LedgerRow> rows_;
  std::map<NodeId, Contributor> contributors_;
  std::map<Block, std::vector<Claim>> claims_;
  double norm_sum_ = 0;
};

}  // namespace wide::engine
