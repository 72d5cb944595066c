#pragma once
// Who is here: every open link, what it said, what it holds, how fast it is.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "wide/base/clock.h"
#include "wide/base/digest.h"
#include "wide/base/ids.h"
#include "wide/base/stats.h"
#include "wide/engine/past.h"
#include "wide/engine/pool/grant.h"
#include "wide/engine/pool/summary.h"

namespace wide::engine {

enum class Standing {
  kStranger,   // has not said hello
  kObserver,   // asks for status only
  kPreparing,  // got the job, opens its samples
  kReady,
};

struct Member {
  LinkId link;
  std::string peer;  // address, for messages
  Standing standing = Standing::kStranger;
  NodeId node;
  std::string name;
  std::uint16_t slots = 0;
  std::uint16_t seat = 0;  // of a node that others help, and that helps them; 0: none
  Digest class_hash;

  std::uint32_t credits = 0;
  std::vector<LeaseId> leases;      // live ones
  std::optional<Step> holds;        // the replica it has; nothing: it needs a snapshot
  std::vector<wire::KeptRun> kept;  // what it brought along, until it asks for work

  bool has_manifest = false;
  std::uint32_t chunks_owed = 0;  // asked for, not yet on their way

  bool listed = false;    // among those at work
  bool expected = false;  // prepares, and will be ready soon

  Time opened_at{};
  Time heard_at{};
  Time sent_at{};
  Time granted_at{};
  std::optional<Time> reported_at;  // its last status report

  DurationHistory turnarounds;  // per piece, from grant to result
  double piece_seconds = 0;     // compute time per piece, moving average
  double lag_seconds = 0;       // turnaround less compute, of leases that did not queue
  std::uint32_t refused_in_a_row = 0;
  std::optional<double> measured_units_per_second;

  std::uint64_t units = 0;  // accepted
  double loss_sum = 0;      // over their samples
  std::uint64_t rejected = 0;
  std::uint64_t bytes_sent = 0;  // by the node
  std::uint64_t bytes_received = 0;
  std::uint64_t bytes_saved = 0;  // of both, by lossless codes
  wire::NodeTimes times;

  bool took_part() const { return standing == Standing::kReady && units > 0; }
  Candidate candidate() const;
  void learn(Duration turnaround, Duration compute, Block pieces, bool queued);
};

class Roster final {
 public:
  Member& open(LinkId link, std::string peer, Time now);
  Member* find(LinkId link);
  Member* at_seat(std::uint16_t seat);  // who is at work; null: nobody
  void remove(LinkId link);             // what it did is remembered under its name
  void remember(const std::string& name, const NodePast& past);  // from before a restart

  // "n1", or "n1-2" where another n1 is here. Once for a member.
  void give_name(Member& member, const std::string& wanted);
  void expect(Member& member);            // it prepares, and leases leave it a part
  void expect_no_longer(Member& member);  // it is ready, or takes too long
  void make_ready(Member& member);
  void put_to_work(Member& member);  // it has asked for leases

  std::map<LinkId, Member>& members() { return members_; }
  const std::map<LinkId, Member>& members() const { return members_; }
  // Everyone who has leases or asks for some, by link: a crowd that only waits costs nothing here.
  const std::vector<Member*>& at_work();
  std::uint32_t ready_count() const { return ready_count_; }
  std::uint32_t ready_slots() const { return ready_slots_; }
  std::uint32_t coming_slots() const { return coming_slots_; }

  // Every node that ever worked, by name; `seconds` is the time over which speeds are taken.
  std::vector<NodeSummary> summaries(std::uint64_t units_total, std::uint32_t batch,
                                     double seconds) const;

 private:
  bool is_taken(const std::string& name) const { return names_.contains(name); }
  std::string unique_name(const std::string& wanted, NodeId node) const;

  std::map<LinkId, Member> members_;
  std::unordered_map<LinkId, Member*> by_link_;  // the same: every message asks
  std::multiset<std::string_view> names_;        // they lie in the members
  std::vector<Member*> at_work_;                 // by link; some may have nothing to do any more
  std::uint32_t ready_count_ = 0;
  std::uint32_t ready_slots_ = 0;
  std::uint32_t coming_slots_ = 0;      // of those expected
  std::map<std::string, Member> past_;  // sums over links that are closed
};

}  // namespace wide::engine
