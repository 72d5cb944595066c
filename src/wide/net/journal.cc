#include "wide/net/journal.h"

#include <nlohmann/json.hpp>

#include "wide/base/log.h"

namespace wide::net {

namespace {

constexpr auto kLineEvery = std::chrono::milliseconds(100);

using Line = nlohmann::ordered_json;

// Names come from peers: bytes that are no UTF-8 are replaced, not refused.
std::string text(const Line& line) {
  return line.dump(-1, ' ', false, Line::error_handler_t::replace);
}

}  // namespace

void Journal::record(const engine::Note& note, Time now) {
  using Weight = engine::Note::Weight;
  if (folder_ == nullptr) return;
  if (note.weight == Weight::kDetail && log::level() != log::Level::kVerbose) return;
  Line line{{"seconds", seconds(now - start_)}, {"event", note.event}, {"facts", note.facts}};
  if (note.weight == Weight::kWarning) line["warning"] = true;
  note_failure(folder_->append_event(text(line)));
}

void Journal::record(const engine::Evaluated& evaluated, Time now) {
  if (folder_ == nullptr) return;
  Line line{{"seconds", seconds(now - start_)},
            {"step", evaluated.step},
            {"eval_loss", evaluated.loss},
            {"accuracy", nullptr}};
  if (evaluated.accuracy) line["accuracy"] = *evaluated.accuracy;
  if (evaluated.perplexity) line["perplexity"] = *evaluated.perplexity;
  note_failure(folder_->append_metric(text(line)));
}

bool Journal::committed(const engine::CommitRecord& record, Time now) {
  last_step_ = record.step;
  last_loss_ = record.loss;
  step_waits_ = folder_ != nullptr;
  return step_waits_ && now - last_line_ >= kLineEvery;
}

void Journal::record_step(const engine::Progress& progress, Time now) {
  last_line_ = now;
  step_waits_ = false;
  const Line line{{"seconds", seconds(now - start_)},
                  {"step", last_step_},
                  {"loss", last_loss_},
                  {"samples_per_second", progress.samples_per_second},
                  {"elapsed", progress.elapsed_seconds}};
  note_failure(folder_->append_metric(text(line)));
}

void Journal::note_failure(const Result<void>& written) {
  if (written || failed_) return;
  failed_ = true;
  log::error("events and metrics were not recorded: {}", describe(written.error()));
}

}  // namespace wide::net
