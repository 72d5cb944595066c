// How the run looks: progress, status reports, the summary; and the two ways out of the pool.

#include <algorithm>
#include <utility>

#include "wide/engine/pool/pool_run.h"

namespace wide::engine {

void Pool::Run::send(Member& member, wire::Message&& message) {
  send(member, std::make_shared<const wire::Packet>(wire::encode(std::move(message))));
}

void Pool::Run::send(Member& member, wire::SharedPacket packet) {
  const std::size_t bytes = wire::wire_bytes(*packet);
  member.bytes_received += bytes;
  member.sent_at = now_;
  totals_.bytes_sent += bytes;
  effects_->emplace_back(std::in_place_type<Send>, Send{member.link, std::move(packet)});
}

void Pool::Run::note(Note::Weight weight, std::string event, std::string facts) {
  effects_->push_back(Note{weight, std::move(event), std::move(facts)});
}

void Pool::Run::close_link(LinkId link, Error why) {
  effects_->push_back(Close{link, std::move(why)});
  roster_.remove(link);
  unpin_class();
  say_waiting();
}

double Pool::Run::epochs() const {
  const auto samples = past_.steps * job_.samples_per_step();
  return static_cast<double>(samples) / static_cast<double>(space_.train_count);
}

Progress Pool::Run::progress(Time now) const {
  Progress progress;
  const bool idle = roster_.ready_count() == 0;
  switch (phase_) {
    case Phase::kTraining:
      progress.state = held() ? "waiting for room on the disk"
                       : idle ? "waiting for nodes"
                              : "training";
      break;
    case Phase::kEvaluating:
      progress.state = idle ? "waiting for nodes" : "evaluating";
      break;
    case Phase::kMeasuring:
      progress.state = "measuring";
      break;
    case Phase::kFinished:
      progress.state = "finished";
      break;
  }
  progress.step = replica_.step();
  progress.steps_total = step_count_;
  progress.epoch = epochs();
  progress.loss = past_.loss_last;
  progress.samples_per_second = rate_.per_second(now);
  progress.elapsed_seconds = seconds(busy_);
  progress.nodes = roster_.ready_count();
  progress.slots = roster_.ready_slots();
  if (step_count_ == 0) {
    progress.left_seconds = std::max(0.0, job_.train.seconds - progress.elapsed_seconds);
  } else if (progress.samples_per_second > 0) {
    progress.left_seconds = static_cast<double>(step_count_ - progress.step) *
                            static_cast<double>(job_.samples_per_step()) /
                            progress.samples_per_second;
  }
  return progress;
}

wire::StatusReport Pool::Run::status() const {
  const Progress now = progress(now_);
  wire::StatusReport report;
  report.job_name = job_.name;
  report.state = now.state;
  report.step = now.step;
  report.steps_total = now.steps_total;
  report.epoch = now.epoch;
  report.loss = now.loss;
  report.samples_per_second = now.samples_per_second;
  report.elapsed_seconds = now.elapsed_seconds;
  report.left_seconds = now.left_seconds;
  for (const auto& [link, member] : roster_.members()) {
    if (member.standing != Standing::kReady && member.standing != Standing::kPreparing) continue;
    const double elapsed =
        started_at_ ? seconds(now_ - std::max(*started_at_, member.opened_at)) : 0;
    const auto samples = static_cast<double>(member.units) * job_.train.batch;
    const char* state = member.standing == Standing::kPreparing ? "joining"
                        : member.leases.empty()                 ? "idle"
                                                                : "working";
    report.nodes.push_back({.name = member.name,
                            .slots = member.slots,
                            .leases_in_flight = static_cast<std::uint32_t>(member.leases.size()),
                            .units = member.units,
                            .samples_per_second = elapsed > 0 ? samples / elapsed : 0,
                            .seconds_since_heard = seconds(now_ - member.heard_at),
                            .rejected = member.rejected,
                            .state = state});
  }
  return report;
}

Summary Pool::Run::summary() const {
  Summary summary = totals_;
  summary.steps = past_.steps;
  summary.units = past_.units;
  summary.samples = past_.steps * job_.samples_per_step();
  summary.loss_first = past_.loss_first;
  summary.loss_last = past_.loss_last;
  summary.seconds = seconds(busy_);
  summary.epochs = epochs();
  summary.loss_mean = past_.steps > 0 ? past_.loss_sum / static_cast<double>(past_.steps) : 0;
  if (past_.eval) {
    summary.eval_loss = past_.eval->loss;
    summary.accuracy = past_.eval->accuracy;
    summary.perplexity = past_.eval->perplexity;
  }
  summary.weights_sha256 = replica_.weights_sha256();
  summary.state_hash = replica_.state_hash();
  summary.numerics_classes = static_cast<std::uint32_t>(classes_.size());
  summary.reproducible = classes_.size() == 1 && !job_.codec.automatic();
  summary.raw_bytes = summary.bytes_sent + summary.bytes_received + bytes_saved_;
  summary.nodes = roster_.summaries(past_.units, job_.train.batch, summary.seconds);
  return summary;
}

}  // namespace wide::engine
