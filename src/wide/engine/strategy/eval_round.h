#pragma once
// One evaluation being gathered: the held-out samples in units, on the weights of one step. Each
// unit counts once; losses are added in order of index, so the figure has the same bits whoever
// computed what.

#include <optional>
#include <vector>

#include "wide/engine/job.h"
#include "wide/engine/pool/board.h"
#include "wide/wire/messages.h"

namespace wide::engine {

class EvalRound final {
 public:
  EvalRound(Step step, std::uint32_t unit_count, std::uint64_t sample_count)
      : step_(step), sample_count_(sample_count), board_(unit_count), rows_(unit_count) {}

  void accept(Subtree run, const std::vector<wire::EvalRow>& rows) {
    board_.finish(run);
    std::copy(rows.begin(), rows.end(), rows_.begin() + run.first);
  }

  Board& board() { return board_; }
  const Board& board() const { return board_; }
  Step step() const { return step_; }
  bool complete() const { return board_.complete(); }

  double mean_loss() const {
    double sum = 0;
    for (const auto& row : rows_) sum += row.loss_sum;
    return sum / static_cast<double>(sample_count_);
  }
  double accuracy() const {
    std::uint64_t correct = 0;
    for (const auto& row : rows_) correct += row.correct_count;
    return static_cast<double>(correct) / static_cast<double>(sample_count_);
  }

 private:
  Step step_;
  std::uint64_t sample_count_;
  Board board_;
  std::vector<wire::EvalRow> rows_;
};

}  // namespace wide::engine
