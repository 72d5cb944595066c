#pragma once
// What a pool wants done, in this order. The driver carries effects out one after another: an
// Append must be as durable as the job demands before a Send behind it leaves.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "wide/base/clock.h"
#include "wide/base/error.h"
#include "wide/engine/ledger.h"
#include "wide/wire/frame_writer.h"

namespace wide::engine {

struct Send {
  LinkId link;
  wire::SharedPacket packet;
};

// From now on this link may send what the job allows.
struct SetLimits {
  LinkId link;
  wire::Limits limits;
};

// Close the link once everything queued on it is sent. The pool has forgotten it already.
struct Close {
  LinkId link;
  Error why;
};

struct Append {
  CommitRecord record;
};

// Something happened, in words: for the event log, the terminal and the dashboard.
struct Note {
  enum class Weight { kDetail, kNormal, kWarning };
  Weight weight = Weight::kNormal;
  std::string event;  // one word or two, stable: "node joined"
  std::string facts;  // "name=n1 slots=2"
};

// An evaluation is complete.
struct Evaluated {
  Step step = 0;
  double loss = 0;
  std::optional<double> accuracy;
};

// The run is over; links get their Bye before this. An error says why it failed.
struct Finished {
  std::optional<Error> error;
};

using Effect = std::variant<Send, SetLimits, Close, Append, Note, Evaluated, Finished>;
using Effects = std::vector<Effect>;

}  // namespace wide::engine
