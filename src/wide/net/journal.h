#pragma once
// What a run leaves behind while it goes: one JSON line per event in events.jsonl, and numbers over
// time in metrics.jsonl, at most ten lines a second however fast the steps are.
//
//   {"seconds":1.25,"event":"node joined","facts":"name=n1 slots=2"}
//   {"seconds":1.31,"step":12,"loss":2.1,"samples_per_second":5120.0,"elapsed":0.8}
//   {"seconds":9.02,"step":60,"eval_loss":0.4,"accuracy":0.87}
//
// A disk that fails is said once and does not stop the training: nothing here is needed to resume.

#include "wide/base/clock.h"
#include "wide/engine/pool/effects.h"
#include "wide/engine/pool/summary.h"
#include "wide/store/run_folder.h"

namespace wide::net {

class Journal final {
 public:
  // `folder` may be null: then nothing is recorded.
  Journal(store::RunFolder* folder, Time start) : folder_(folder), start_(start) {}

  // Details are recorded only where they are shown too (--log verbose): there may be thousands.
  void record(const engine::Note& note, Time now);
  void record(const engine::Evaluated& evaluated, Time now);

  // A step is committed. True: its line is due, so call record_step.
  bool committed(const engine::CommitRecord& record, Time now);
  void record_step(const engine::Progress& progress, Time now);
  bool step_waits() const { return step_waits_; }  // the last one has no line yet

 private:
  void note_failure(const Result<void>& written);

  store::RunFolder* folder_;
  Time start_;
  Time last_line_{-std::chrono::seconds(1)};
  Step last_step_ = 0;
  double last_loss_ = 0;
  bool step_waits_ = false;
  bool failed_ = false;
};

}  // namespace wide::net
