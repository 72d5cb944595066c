#include "wide/engine/past.h"

#include <algorithm>

namespace wide::engine {

void Past::add(const CommitRecord& record, const Job& job) {
  if (steps == 0) loss_first = record.loss;
  steps = record.step + 1;
  units += job.train.units_per_step;
  seconds = record.seconds;
  loss_last = record.loss;
  loss_sum += record.loss;
  for (const auto& contributor : record.contributors) {
    node_last = std::max(node_last, contributor.node.value);
    classes.insert(contributor.class_hash);
    NodePast& node = nodes[contributor.name];
    node.slots = std::max(node.slots, contributor.slots);
    node.units += contributor.units;
    node.loss_sum += contributor.loss_sum;
  }
}

}  // namespace wide::engine
