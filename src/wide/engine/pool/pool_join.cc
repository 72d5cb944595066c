// Who may work: hello, ready, want, leave, and what becomes of a link that falls silent.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "wide/engine/pool/pool_run.h"

namespace wide::engine {

namespace {

// No peer makes us send reports faster than a person could read them.
constexpr Duration kReportEvery = std::chrono::milliseconds(50);
// A node further ahead than this pool can have lost tells a tale.
constexpr Step kSeenAheadMax = 64;
// Everyone is looked at, which takes a while where thousands are here.
constexpr Duration kLookEvery = std::chrono::milliseconds(200);

// Who needs longer, to fetch samples perhaps, is not waited for with work.
constexpr Duration kSoonReady = std::chrono::seconds(5);

wire::SharedPacket packed(wire::Message message) {
  return std::make_shared<const wire::Packet>(wire::encode(std::move(message)));
}

}  // namespace

template <class Other>
void Pool::Run::on(Member& member, Other&) {
  refuse(member, Errc::kUnexpectedMessage, "this message is never sent to a pool");
}

void Pool::Run::received(Member& member, wire::Message&& message) {
  const bool hello = std::holds_alternative<wire::Hello>(message);
  if (hello != (member.standing == Standing::kStranger)) {
    refuse(member, Errc::kUnexpectedMessage,
           hello ? "a second hello" : "the first message must be a hello");
    return;
  }
  std::visit([&](auto& body) { on(member, body); }, message);
}

void Pool::Run::on(Member& member, wire::Hello& hello) {
  if (!hello.job_id.is_zero() && hello.job_id != job_id_) {
    refuse(member, Errc::kOtherJob,
           fmt::format("this pool trains job {} ({}), the node works on {}", job_.name,
                       job_id_.short_hex(), hello.job_id.short_hex()));
    return;
  }
  if (phase_ == Phase::kFinished) {
    refuse(member, Errc::kLinkLost, "the run is over");
    return;
  }
  const bool works = hello.role == wire::Role::kNode;
  member.slots = std::clamp<std::uint16_t>(hello.slots, 1, 1024);
  if (helped_) member.seat = hello.seat;
  if (!works) {
    member.standing = Standing::kObserver;
  } else {
    roster_.expect(member);
    member.node = NodeId{next_node_++};
    roster_.give_name(member, hello.name);
    note(Note::Weight::kDetail, "node called",
         fmt::format("name={} peer={} slots={}", member.name, member.peer, member.slots));
  }
  effects_->push_back(SetLimits{member.link, limits_});
  wire::Welcome welcome;
  welcome.node = member.node;
  welcome.name = member.name;
  welcome.job_id = job_id_;
  welcome.samples_sha256 = space_.sha256;
  welcome.genesis_sha256 = genesis_sha256_;
  welcome.heartbeat_ms = static_cast<std::uint32_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(options_.heartbeat).count());
  welcome.step = replica_.step();
  welcome.job_text = job_text_;
  send(member, std::move(welcome));
}

void Pool::Run::on(Member& member, wire::Ready& ready) {
  if (member.standing != Standing::kPreparing) {
    refuse(member, Errc::kUnexpectedMessage, "ready, but not as a node that prepares");
    return;
  }
  if (!class_fits(ready.class_hash)) {
    refuse_class(member, ready.class_hash);
    return;
  }
  roster_.make_ready(member);
  member.class_hash = ready.class_hash;
  if (!ready.holds_replica) {
    ready.step = ready.oldest = 0;
    ready.chain = chain_genesis(job_id_, genesis_sha256_);
  }
  take_up_replica(member, ready);
  said_waiting_ = false;
  note(Note::Weight::kNormal, "node joined",
       fmt::format("name={} peer={} slots={} class={} replica={}", member.name, member.peer,
                   member.slots, member.class_hash.short_hex(),
                   member.holds ? fmt::format("step {}", *member.holds) : "by snapshot"));
}

void Pool::Run::take_up_replica(Member& member, const wire::Ready& ready) {
  const Step step = replica_.step();
  const bool present = ready.step == step && ready.chain == replica_.chain();
  const bool on_our_way = present || ring_.reaches(ready.step, ready.chain);
  // After a power cut we may stand before the snapshot that a node began with.
  if (on_our_way && ready.oldest <= job_.base_of(step)) member.holds = ready.step;
  if (member.holds) member.kept = ready.kept;
  if (ready.step <= step || ready.step > step + kSeenAheadMax) return;
  seen_ahead_.emplace(ready.step, ready.chain);
  note(job_.train.exact == Exact::kLedger ? Note::Weight::kWarning : Note::Weight::kNormal,
       "node is ahead",
       fmt::format("name={} step={} this pool is at {}; what it had lost is computed again",
                   member.name, ready.step, step));
}

// What a node computed before its link broke is as good as ever if nobody else has done it.
void Pool::Run::take_up_kept(Member& member) {
  const auto kept = std::exchange(member.kept, {});
  const Step held = member.holds.value_or(0);
  for (const auto& run : kept) {
    StepRound* const round = round_of(run.step);
    if (round == nullptr || round->base() > held || member.credits == 0) continue;
    const Subtree wanted{run.first_block, run.block_count};
    const bool fits = run.first_block < job_.blocks_per_step() &&
                      is_subtree(wanted, job_.blocks_per_step()) &&
                      round->board().free_run(run.first_block, run.block_count) == run.block_count;
    if (!fits) continue;
    ++totals_.results_kept;
    grant(member, run.step, wanted);
  }
}

bool Pool::Run::class_fits(const Digest& class_hash) const {
  return job_.train.exact != Exact::kBits || pinned_class_.is_zero() || class_hash == pinned_class_;
}

// A class that asked for work but never gave any binds nobody once its nodes are gone.
void Pool::Run::unpin_class() {
  const bool held = std::ranges::any_of(roster_.at_work(), [this](const Member* member) {
    return member->class_hash == pinned_class_;
  });
  if (classes_.empty() && !held) pinned_class_ = {};
}

void Pool::Run::refuse_class(Member& member, const Digest& class_hash) {
  refuse(member, Errc::kOtherClass,
         fmt::format("the job demands exact = \"bits\" and runs in numerics class {}; this node is "
                     "of class {}",
                     pinned_class_.short_hex(), class_hash.short_hex()));
}

void Pool::Run::on(Member& member, wire::Want& want) {
  if (member.standing != Standing::kReady) {
    refuse(member, Errc::kUnexpectedMessage, "asks for work before it is ready");
    return;
  }
  // The first who asks for work sets the class of a job that demands bits; who only watches does
  // not.
  if (!class_fits(member.class_hash)) {
    refuse_class(member, member.class_hash);
    return;
  }
  pinned_class_ = member.class_hash;
  give_credit(member, want.leases);
  take_up_kept(member);
  hand_out();
}

void Pool::Run::give_credit(Member& member, std::uint32_t leases) {
  const std::uint32_t most = 2u * member.slots + 2u;
  member.credits = std::min(member.credits + std::min(leases, most), most);
  if (member.credits > 0) roster_.put_to_work(member);
}

void Pool::Run::on(Member& member, wire::Resync& resync) {
  if (member.standing != Standing::kReady) {
    refuse(member, Errc::kUnexpectedMessage, "asks for a replica before it is ready");
    return;
  }
  ++totals_.resyncs;
  note(Note::Weight::kWarning, "replica differed",
       fmt::format("name={} step={} reason={}", member.name, resync.step, resync.reason));
  release_leases(member, "resync");
  member.credits = 0;  // it has dropped all it had, and asks anew behind this message
  member.holds.reset();
  hand_out();
}

void Pool::Run::on(Member& member, wire::Leave& leave) {
  const LinkId link = member.link;
  note(Note::Weight::kNormal, "node left",
       fmt::format("name={} leases={} reason={}", member.name, member.leases.size(), leave.reason));
  send(member, wire::Bye{0, "goodbye", replica_.step(), {}});
  release_leases(member, "left");
  close_link(link, {Errc::kLinkLost, "left"});
  hand_out();
}

void Pool::Run::on(Member& member, wire::StatusRequest&) {
  if (member.reported_at && now_ - *member.reported_at < kReportEvery) return;
  member.reported_at = now_;
  send(member, status());
}

void Pool::Run::on(Member& member, wire::Measured& measured) {
  if (phase_ != Phase::kMeasuring || !member.took_part() || !(measured.seconds > 0)) return;
  member.measured_units_per_second = static_cast<double>(measured.units) / measured.seconds;
  const bool waiting = std::ranges::any_of(roster_.members(), [](const auto& entry) {
    return entry.second.took_part() && !entry.second.measured_units_per_second;
  });
  if (!waiting) end_measure();
}

void Pool::Run::on(Member& member, wire::Heartbeat& heartbeat) { member.times = heartbeat.times; }

void Pool::Run::on(Member& member, wire::Echo& echo) { send(member, std::move(echo)); }

void Pool::Run::refuse(Member& member, Errc code, std::string reason) {
  const LinkId link = member.link;
  send(member, wire::Refused{static_cast<std::uint16_t>(code), reason.substr(0, 512)});
  note(Note::Weight::kWarning, "link refused",
       fmt::format("peer={} name={} code=W{} reason={}", member.peer, member.name,
                   static_cast<int>(code), reason));
  release_leases(member, "refused");
  close_link(link, {code, std::move(reason)});
}

void Pool::Run::drop(LinkId link, const std::string& why) {
  Member* member = roster_.find(link);
  if (member == nullptr) return;
  const bool worked =
      member->standing == Standing::kReady || member->standing == Standing::kPreparing;
  if (worked && phase_ != Phase::kFinished) {
    note(Note::Weight::kNormal, "node lost",
         fmt::format("name={} leases={} reason={}", member->name, member->leases.size(), why));
  }
  release_leases(*member, "link closed");
  roster_.remove(link);
  unpin_class();
  say_waiting();
}

void Pool::Run::tick() {
  // A pool that was itself stopped for a while must not take everyone for dead.
  const Duration away = now_ - ticked_at_;
  const bool asleep = ticked_at_ > Time{} && away > std::chrono::seconds(2);
  ticked_at_ = now_;
  if (asleep || now_ - looked_at_ >= kLookEvery) look_around(asleep);
  if (phase_ == Phase::kMeasuring && now_ - phase_since_ > 3 * measure_span_) end_measure();
  if (phase_ == Phase::kFinished) return;
  hand_out();
  copy_overdue();
  say_waiting();
}

// Who says nothing is refused; who has heard nothing for long is given a sign of life.
void Pool::Run::look_around(bool asleep) {
  const Time now = looked_at_ = now_;
  std::vector<LinkId> silent;
  wire::SharedPacket heartbeat;
  for (auto& [link, member] : roster_.members()) {
    if (now - member.opened_at > kSoonReady) roster_.expect_no_longer(member);
    if (asleep) member.heard_at = std::max(member.heard_at, now - options_.silence_max / 2);
    const bool stranger = member.standing == Standing::kStranger;
    if (stranger ? now - member.opened_at > options_.hello_max
                 : now - member.heard_at > options_.silence_max) {
      silent.push_back(link);
    } else if (!stranger && now - member.sent_at >= options_.heartbeat) {
      if (!heartbeat) heartbeat = packed(wire::Heartbeat{past_.units, {}});
      send(member, heartbeat);
    }
  }
  for (const LinkId link : silent) {
    refuse(*roster_.find(link), Errc::kPeerSilent, "nothing was heard for too long");
  }
}

}  // namespace wide::engine
