#pragma once
// The leases that are out: who holds which run of which step or evaluation, since when.

#include <map>

#include "wide/base/clock.h"
#include "wide/base/ids.h"
#include "wide/engine/sum_tree.h"

namespace wide::engine {

struct LiveLease {
  LeaseId id;
  LinkId link;
  Step step = 0;  // that it is a part of; of an evaluation: whose weights
  Subtree run;
  Time granted_at{};
  bool queued = false;   // its holder's slots were all busy when it was granted
  bool goes_on = false;  // its holder may go on from it unasked, and names it then
  LeaseId onward_of{};   // … from this one to what this lease is for
};

class LeaseBook final {
 public:
  LeaseBook() = default;

  LiveLease& add(LinkId link, Step step, Subtree run, Time now) {
    const LeaseId id{next_++};
    return live_.emplace(id, LiveLease{id, link, step, run, now}).first->second;
  }
  const LiveLease* find(LeaseId id) const {
    const auto found = live_.find(id);
    return found == live_.end() ? nullptr : &found->second;
  }
  void remove(LeaseId id) { live_.erase(id); }

  bool was_granted(LeaseId id) const { return id.value > 0 && id.value < next_; }
  std::map<LeaseId, LiveLease>& live() { return live_; }
  std::size_t size() const { return live_.size(); }

 private:
  std::map<LeaseId, LiveLease> live_;
  std::uint64_t next_ = 1;
};

}  // namespace wide::engine
