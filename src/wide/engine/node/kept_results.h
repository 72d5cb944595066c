#pragma once
// Results that a node holds on to until the step they belong to is over, so that a broken link, or
// a pool that went down and came back, does not cost what was computed already. A few of the last
// ones: memory is bounded by the slots, not by the length of a step.

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include "wide/base/clock.h"
#include "wide/engine/lease_work.h"
#include "wide/wire/messages.h"

namespace wide::engine {

// Lease ids belong to a link; this is what a result answers on any link.
struct WorkKey {
  Step step = 0;
  std::uint64_t base_chain = 0;
  Block first_block = 0;
  Block block_count = 0;

  static WorkKey of(const wire::Lease& lease) {
    return {lease.step, lease.base_chain, lease.first_block, lease.block_count};
  }
  bool operator==(const WorkKey&) const = default;
};

class KeptResults final {
 public:
  struct Entry {
    WorkKey work;
    LeaseOutcome outcome;
    Duration compute_span{};
    bool told = false;  // on this link: who asks for it again doubts it, and wants it done again
  };

  explicit KeptResults(std::size_t count_max) : count_max_(count_max) {}

  void keep_at_most(std::size_t count) { count_max_ = count; }
  void keep(Entry entry) {
    if (find(entry.work) != nullptr) return;
    entries_.push_back(std::move(entry));
    if (entries_.size() > count_max_) entries_.pop_front();
  }
  Entry* find(const WorkKey& work) {
    const auto found =
        std::ranges::find_if(entries_, [&](const Entry& entry) { return entry.work == work; });
    return found == entries_.end() ? nullptr : &*found;
  }
  void link_ended() {
    for (Entry& entry : entries_) entry.told = false;
  }
  template <class Rule>
  void keep_only(Rule still_good) {
    std::erase_if(entries_, [&](const Entry& entry) { return !still_good(entry.work); });
  }
  const std::deque<Entry>& entries() const { return entries_; }

 private:
  std::size_t count_max_;
  std::deque<Entry> entries_;
};

}  // namespace wide::engine
