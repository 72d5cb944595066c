#include "wide/apps/cli/bench/crowd/stub_crowd.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

#include "wide/apps/cli/bench/crowd/callers.h"
#include "wide/apps/cli/bench/give_up.h"
#include "wide/base/error.h"
#include "wide/engine/lease_work.h"
#include "wide/net/open_samples.h"
#include "wide/net/steady.h"

namespace wide::apps::bench {

namespace {

constexpr std::size_t kCallsAtOnce = 256;  // fewer than a listener lets wait
constexpr Duration kPatience = std::chrono::seconds(20);

using net::steady_now;

[[noreturn]] void lost(const std::string& why) {
  throw Failure(Errc::kPoolUnreachable, "a node of the bench lost its pool: " + why);
}

SampleSpace space_of(const engine::Job& job) {
  return value_or_throw(net::open_samples(job, {}, {}))->space();
}

}  // namespace

StubCrowd::StubCrowd(Poller& poller, std::uint16_t port, std::size_t count,
                     const std::string& job_text)
    : poller_(poller),
      job_(value_or_throw(engine::parse_job(job_text, "the bench's job"))),
      space_(space_of(job_)),
      genesis_(engine::make_genesis(job_, space_)),
      factory_(job_, genesis_.layout),
      computer_(factory_.make_computer()),
      beaten_at_(steady_now()) {
  poller_.at_every_turn([this] { beat(); });
  for (std::size_t i = 0; i < count; ++i) {
    nodes_.emplace_back(*this, port, i);
    if (i % kCallsAtOnce == kCallsAtOnce - 1) await_all();
  }
  await_all();
}

void StubCrowd::await_all() {
  const Time patience = steady_now() + kPatience;
  while (!std::ranges::all_of(nodes_, &StubNode::at_work)) {
    poller_.turn(10);
    if (steady_now() > patience) lost("it does not answer");
  }
}

// As of Callers.
void StubCrowd::beat() {
  const auto due = static_cast<std::size_t>(seconds(steady_now() - beaten_at_) *
                                            static_cast<double>(nodes_.size()));
  if (due == 0) return;
  beaten_at_ = steady_now();
  for (std::size_t i = 0; i < std::min(due, nodes_.size()); ++i) {
    nodes_[beats_++ % nodes_.size()].tick();
  }
}

Step StubCrowd::step() const {
  Step step = 0;
  for (const auto& one : nodes_) step = std::max(step, one.node().replica()->step());
  return step;
}

std::uint64_t StubCrowd::units() const {
  std::uint64_t units = 0;
  for (const auto& one : nodes_) units += one.node().units_done();
  return units;
}

StubCrowd::StubNode::StubNode(StubCrowd& crowd, std::uint16_t port, std::size_t number)
    : crowd_(crowd),
      socket_(call_loopback(port)),
      node_({fmt::format("stub{}", number), 1, WIDE_VERSION}, crowd.buffers_),
      reader_(crowd.buffers_, wire::Limits::for_caller()) {
  crowd_.poller_.watch(socket_.number(), *this);
  node_.connected(steady_now(), effects_);
  settle();
  flush();
}

void StubCrowd::StubNode::readable() {
  for (bool more = true; more;) {
    const auto space = reader_.space();
    const auto count = ::recv(socket_.number(), space.data(), space.size(), MSG_DONTWAIT);
    if (count == 0) lost("it hung up");
    if (count < 0 && errno != EAGAIN) give_up("reading what a pool says");
    if (count < 0) break;
    reader_.filled(static_cast<std::size_t>(count));
    more = static_cast<std::size_t>(count) == space.size();
    while (auto message = value_or_throw(reader_.next())) {
      node_.received(std::move(*message), steady_now(), effects_);
      settle();
    }
  }
  flush();
}

void StubCrowd::StubNode::tick() {
  node_.tick(steady_now(), effects_);
  settle();
  flush();
}

void StubCrowd::StubNode::settle() {
  while (!effects_.empty()) {
    auto effects = std::exchange(effects_, {});
    for (auto& effect : effects) std::visit([this](auto& any) { on(any); }, effect);
  }
}

void StubCrowd::StubNode::on(engine::Prepare&) {
  node_.prepared(crowd_.space_, crowd_.genesis_, crowd_.factory_.libraries(), crowd_class(),
                 steady_now(), effects_);
}

void StubCrowd::StubNode::on(engine::Compute& compute) {
  const Time began = steady_now();
  auto outcome = engine::compute_lease(*crowd_.computer_, crowd_.job_, crowd_.genesis_.layout,
                                       compute.weights, compute.lease, crowd_.buffers_);
  const Time now = steady_now();
  node_.computed(compute.task, std::move(outcome), now - began, now, effects_);
}

void StubCrowd::StubNode::on(engine::ComputeEval& compute) {
  const Time began = steady_now();
  auto rows = engine::compute_eval_lease(*crowd_.computer_, crowd_.job_, crowd_.space_,
                                         compute.weights, compute.lease);
  const Time now = steady_now();
  node_.computed_eval(compute.task, std::move(rows), now - began, now, effects_);
}

void StubCrowd::StubNode::on(engine::MeasureSlots&) { lost("it has come to its end"); }

void StubCrowd::StubNode::on(engine::NodeSend& send) {
  if (send.packet->kind == wire::Kind::kWant) at_work_ = true;
  writer_.push(std::move(send.packet));
}

void StubCrowd::StubNode::on(engine::NodeSetLimits& limits) { reader_.set_limits(limits.limits); }

void StubCrowd::StubNode::on(engine::Hangup& hangup) {
  lost(hangup.error ? describe(*hangup.error) : "it has come to its end");
}

void StubCrowd::StubNode::on(engine::NodeNote&) {}

void StubCrowd::StubNode::flush() {
  bool full = false;
  while (!writer_.empty() && !full) {
    writer_.gather(crowd_.segments_);
    std::array<iovec, 64> runs;
    for (std::size_t i = 0; i < crowd_.segments_.size(); ++i) {
      const auto run = crowd_.segments_[i];
      runs[i] = {const_cast<std::byte*>(run.data()), run.size()};
    }
    msghdr message{};
    message.msg_iov = runs.data();
    message.msg_iovlen = crowd_.segments_.size();
    const auto count = ::sendmsg(socket_.number(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno != EAGAIN) give_up("answering a pool");
    full = count < 0;
    if (!full) writer_.sent(static_cast<std::size_t>(count));
  }
  if (full == wants_room_) return;
  wants_room_ = full;
  crowd_.poller_.watch_room(socket_.number(), *this, full);
}

}  // namespace wide::apps::bench
