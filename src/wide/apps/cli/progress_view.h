#pragma once
// Shows a run while it goes on: a live line on a terminal, a plain line every two seconds
// elsewhere, and a line for every evaluation and every note worth a person's time.
// Called on the pool's I/O thread: it writes to stderr and does nothing else.

#include <cstddef>
#include <string>

#include "wide/base/clock.h"
#include "wide/engine/pool/effects.h"
#include "wide/engine/pool/summary.h"

namespace wide::apps {

class ProgressView final {
 public:
  enum class Style { kLive, kPlain };

  explicit ProgressView(Style style) : style_(style) {}

  void progress(const engine::Progress& progress, Time now);
  void note(const engine::Note& note) const;
  void evaluated(const engine::Evaluated& evaluated) const;
  void clear() const;  // takes the live line away

 private:
  Style style_;
  Time shown_at_{-1};  // plain: the last line; -1: none yet
  std::string shown_state_;
};

// Live where a person watches: stderr is a terminal that can move its cursor.
ProgressView::Style progress_style(bool json, const std::string& terminal_kind);

}  // namespace wide::apps
