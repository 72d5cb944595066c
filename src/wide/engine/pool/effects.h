#pragma once
// What a pool wants done, in this order. The driver carries effects out one after another.

#include <cstdint>
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

// Samples for a node that lacks them: only the driver can reach the files. Chunks may wait for
// their turn, so that newcomers do not slow down those who train; the others go out in order, like
// a Send. The driver answers each with shipped().
struct SendManifest {
  LinkId link;
};
struct SendChunk {
  LinkId link;
  std::uint64_t chunk = 0;
};
// Positions of the sequence that training walks, or indices of held-out samples.
struct SendSamples {
  LinkId link;
  bool held_out = false;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

// Write this to the ledger. Behind a commit the pool waits: call appended() once the record is as
// durable as the job demands. Others need no answer.
struct Append {
  LedgerRecord record;
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
  std::optional<double> perplexity;  // of text and tokens
};

// The run is over; links get their Bye before this. An error says why it failed.
struct Finished {
  std::optional<Error> error;
};

using Effect = std::variant<Send, SendManifest, SendChunk, SendSamples, SetLimits, Close, Append,
                            Note, Evaluated, Finished>;
using Effects = std::vector<Effect>;

}  // namespace wide::engine
