#include "wide/engine/pool/roster.h"

#include <algorithm>
#include <utility>

#include "wide/base/check.h"

namespace wide::engine {

namespace {

constexpr double kMemory = 0.2;  // weight of the newest value in moving averages

void blend(double& average, double value) {
  average = average > 0 ? average + kMemory * (value - average) : value;
}

void add_work(Member& into, const Member& from) {
  into.slots = std::max(into.slots, from.slots);
  into.units += from.units;
  into.loss_sum += from.loss_sum;
  into.rejected += from.rejected;
  into.bytes_sent += from.bytes_sent;
  into.bytes_received += from.bytes_received;
  into.bytes_saved += from.bytes_saved;
  into.times.compute_ns += from.times.compute_ns;
  into.times.encode_ns += from.times.encode_ns;
  into.times.network_ns += from.times.network_ns;
  into.times.wait_ns += from.times.wait_ns;
}

}  // namespace

Candidate Member::candidate() const {
  return {.node = node,
          .credits = credits,
          .leases_out = static_cast<std::uint32_t>(leases.size()),
          .slots = slots,
          .piece_seconds = piece_seconds,
          .lag_seconds = lag_seconds,
          .granted_at = granted_at};
}

void Member::learn(Duration turnaround, Duration compute, Block pieces, bool queued) {
  turnarounds.add(turnaround / pieces);
  blend(piece_seconds, std::max(1e-9, seconds(compute) / pieces));
  if (!queued) blend(lag_seconds, std::max(0.0, seconds(turnaround - compute)));
}

Member& Roster::open(LinkId link, std::string peer, Time now) {
  const auto [at, fresh] = members_.try_emplace(link);
  WIDE_CHECK(fresh, "links are never reused");
  Member& member = at->second;
  by_link_.emplace(link, &member);
  member.link = link;
  member.peer = std::move(peer);
  member.opened_at = member.heard_at = member.sent_at = now;
  return member;
}

Member* Roster::find(LinkId link) {
  const auto found = by_link_.find(link);
  return found == by_link_.end() ? nullptr : found->second;
}

Member* Roster::at_seat(std::uint16_t seat) {
  const auto& all = at_work();
  const auto found = std::ranges::find(all, seat, &Member::seat);
  return found == all.end() ? nullptr : *found;
}

void Roster::remove(LinkId link) {
  const auto found = members_.find(link);
  if (found == members_.end()) return;
  Member& member = found->second;
  expect_no_longer(member);
  if (member.units > 0) add_work(past_[member.name], member);
  if (!member.name.empty()) names_.erase(names_.find(member.name));
  if (member.listed) std::erase(at_work_, &member);
  if (member.standing == Standing::kReady) {
    --ready_count_;
    ready_slots_ -= member.slots;
  }
  by_link_.erase(link);
  members_.erase(found);
}

void Roster::remember(const std::string& name, const NodePast& past) {
  Member& sum = past_[name];
  sum.slots = std::max(sum.slots, past.slots);
  sum.units += past.units;
  sum.loss_sum += past.loss_sum;
}

void Roster::give_name(Member& member, const std::string& wanted) {
  WIDE_CHECK(member.name.empty());
  member.name = unique_name(wanted, member.node);
  names_.insert(member.name);
}

void Roster::expect(Member& member) {
  WIDE_CHECK(member.standing == Standing::kStranger);
  member.standing = Standing::kPreparing;
  member.expected = true;
  coming_slots_ += member.slots;
}

void Roster::expect_no_longer(Member& member) {
  if (std::exchange(member.expected, false)) coming_slots_ -= member.slots;
}

void Roster::make_ready(Member& member) {
  WIDE_CHECK(member.standing == Standing::kPreparing);
  expect_no_longer(member);
  member.standing = Standing::kReady;
  ++ready_count_;
  ready_slots_ += member.slots;
}

void Roster::put_to_work(Member& member) {
  if (std::exchange(member.listed, true)) return;
  const auto place = std::ranges::lower_bound(at_work_, member.link, {}, &Member::link);
  at_work_.insert(place, &member);
}

const std::vector<Member*>& Roster::at_work() {
  std::erase_if(at_work_, [](Member* member) {
    member->listed = member->credits > 0 || !member->leases.empty();
    return !member->listed;
  });
  return at_work_;
}

std::string Roster::unique_name(const std::string& wanted, NodeId node) const {
  const std::string base = wanted.empty() ? "node" : wanted;
  if (!is_taken(base)) return base;
  for (int n = 2; n < 10; ++n) {
    if (std::string name = base + "-" + std::to_string(n); !is_taken(name)) return name;
  }
  return base + "-node" + std::to_string(node.value);  // a crowd of one name: do not search on
}

std::vector<NodeSummary> Roster::summaries(std::uint64_t units_total, std::uint32_t batch,
                                           double seconds) const {
  std::map<std::string, Member> sums;
  for (const auto& [name, past] : past_) add_work(sums[name], past);
  for (const auto& [link, member] : members_) {
    if (member.units > 0 || member.rejected > 0 || member.standing == Standing::kReady) {
      add_work(sums[member.name], member);
    }
  }
  std::vector<NodeSummary> summaries;
  for (const auto& [name, sum] : sums) {
    const auto samples = static_cast<double>(sum.units) * batch;
    summaries.push_back(
        {.name = name,
         .slots = sum.slots,
         .units = sum.units,
         .share = units_total > 0 ? static_cast<double>(sum.units) / units_total : 0,
         .samples_per_second = seconds > 0 ? samples / seconds : 0,
         .times = sum.times,
         .bytes_sent = sum.bytes_sent,
         .bytes_received = sum.bytes_received,
         .raw_bytes = sum.bytes_sent + sum.bytes_received + sum.bytes_saved,
         .loss_mean = samples > 0 ? sum.loss_sum / samples : 0,
         .rejected = sum.rejected});
  }
  return summaries;
}

}  // namespace wide::engine
