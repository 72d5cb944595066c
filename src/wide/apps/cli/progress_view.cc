#include "wide/apps/cli/progress_view.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "wide/apps/cli/figures.h"
#include "wide/apps/cli/progress_line.h"
#include "wide/base/log.h"

namespace wide::apps {

namespace {
constexpr Duration kPlainEvery = std::chrono::seconds(2);

std::size_t terminal_columns() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 79;
  return std::max<std::size_t>(size.ws_col, 20) - 1;  // the cursor needs the last one
}
}  // namespace

void ProgressView::progress(const engine::Progress& progress, Time now) {
  if (log::level() == log::Level::kSilent) return;
  if (style_ == Style::kLive) return log::set_live_line(live_line(progress, terminal_columns()));
  const bool news = progress.state != shown_state_;
  if (!news && shown_at_ >= Time{0} && now - shown_at_ < kPlainEvery) return;
  shown_at_ = now;
  shown_state_ = progress.state;
  log::info("{}", plain_line(progress));
}

void ProgressView::note(const engine::Note& note) const {
  const std::string text =
      printable(note.event) + (note.facts.empty() ? "" : " " + printable(note.facts));
  switch (note.weight) {
    case engine::Note::Weight::kDetail:
      return log::detail("{}", text);
    case engine::Note::Weight::kNormal:
      return log::info("{}", text);
    case engine::Note::Weight::kWarning:
      return log::info("warning: {}", text);
  }
}

void ProgressView::evaluated(const engine::Evaluated& evaluated) const {
  const std::string accuracy =
      evaluated.accuracy ? fmt::format(" accuracy={:.4f}", *evaluated.accuracy) : "";
  const std::string perplexity =
      evaluated.perplexity ? fmt::format(" perplexity={:.2f}", *evaluated.perplexity) : "";
  log::info("evaluated step={} loss={:.4f}{}{}", evaluated.step, evaluated.loss, accuracy,
            perplexity);
}

void ProgressView::clear() const {
  if (style_ == Style::kLive) log::set_live_line("");
}

ProgressView::Style progress_style(bool json, const std::string& terminal_kind) {
  const bool live = !json && terminal_kind != "dumb" && isatty(STDERR_FILENO) == 1;
  return live ? ProgressView::Style::kLive : ProgressView::Style::kPlain;
}

}  // namespace wide::apps
