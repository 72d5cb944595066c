#include "wide/apps/cli/bench/peers/contest.h"

#include <fmt/format.h>

#include <algorithm>

#include "wide/apps/cli/bench/turns.h"
#include "wide/base/error.h"
#include "wide/base/log.h"

namespace wide::apps::bench {

namespace {
constexpr std::string_view kOurs = "ours";
}  // namespace

std::vector<Outcome> Contest::Contestant::done() const {
  std::vector<Outcome> outcomes;
  for (const auto& round : rounds) {
    if (round) outcomes.push_back(*round);
  }
  return outcomes;
}

void Contest::add(Side side, std::string name, Work work) {
  if (side == Side::kOurs)
    name = name.empty() ? std::string(kOurs) : fmt::format("{}, {}", kOurs, name);
  contestants_.push_back({side, std::move(name), std::move(work)});
}

void Contest::round(std::vector<std::string>& notes) {
  for (auto& one : contestants_) {
    one.rounds.emplace_back();
    if (one.out) continue;
    try {
      one.rounds.back() = one.work();
      log::info("measured {}, {}: {:.1f} batches/s", title(), one.name,
                batches_per_second(*one.rounds.back()));
    } catch (const Failure& failure) {
      one.out = true;
      notes.push_back(
          fmt::format("{}, {}: not measured: {}", title(), one.name, describe(failure.error())));
    }
  }
}

std::string Contest::title() const { return fmt::format("{}, {} ranks", where_, ranks_); }

std::optional<double> Contest::loss() const {
  std::vector<Curve> curves;
  for (const auto& one : contestants_) {
    const auto done = one.done();
    if (!done.empty()) curves.push_back(median_outcome(done).curve);
  }
  return shared_loss(curves);
}

const Contest::Contestant* Contest::first_of_ours() const {
  const auto found = std::ranges::find(contestants_, Side::kOurs, &Contestant::side);
  return found == contestants_.end() ? nullptr : &*found;
}

std::optional<double> Contest::ratio(const Contestant& ours, const Contestant& theirs) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(ours.rounds.size(), theirs.rounds.size()); ++i) {
    if (!ours.rounds[i] || !theirs.rounds[i]) continue;
    ratios.push_back(ours.rounds[i]->steps_per_second / theirs.rounds[i]->steps_per_second);
  }
  if (ratios.empty()) return std::nullopt;
  return median(ratios);
}

Row Contest::row(const Contestant& ours, const Contestant* theirs) const {
  const auto aim = loss();
  const Outcome outcome = median_outcome(ours.done());
  Row row;
  row.name = fmt::format("{}{}: batches/s", title(), ours.name.substr(kOurs.size()));
  row.measured = batches_per_second(outcome);
  row.unit = "batches/s";
  row.more["rounds"] = ours.done().size();
  row.more["loss"] = aim ? nlohmann::ordered_json(*aim) : nullptr;
  row.more["ours"] = outcome_json(outcome, ranks_, batch_, aim);
  if (theirs == nullptr) return row;
  row.against = theirs->name;
  row.ratio = ratio(ours, *theirs);
  row.more["theirs"] = outcome_json(median_outcome(theirs->done()), ranks_, batch_, aim);
  return row;
}

std::vector<Row> Contest::rows() const {
  std::vector<Row> rows;
  for (const auto& ours : contestants_) {
    if (ours.side != Side::kOurs || ours.done().empty()) continue;
    const std::size_t before = rows.size();
    for (const auto& theirs : contestants_) {
      if (theirs.side == Side::kTheirs && !theirs.done().empty())
        rows.push_back(row(ours, &theirs));
    }
    if (rows.size() == before) rows.push_back(row(ours, nullptr));
  }
  return rows;
}

std::vector<std::string> Contest::table_head() {
  return {"where, who", "steps in a run", "steps/s",         "batches/s", "samples/s",
          "s to loss",  "KB per step",    "CPU ms per step", "MB",        "ours ÷ it"};
}

std::vector<std::string> Contest::line(const Contestant& one) const {
  const Outcome outcome = median_outcome(one.done());
  const auto aim = loss();
  const auto steps = aim ? steps_to(outcome.curve, *aim) : std::nullopt;
  const auto* ours = first_of_ours();
  const auto times = ours != nullptr && &one != ours ? ratio(*ours, one) : std::nullopt;
  return {fmt::format("{}: {}", title(), one.name),
          fmt::format("{:.0f}", outcome.steps),
          fmt::format("{:.4g}", outcome.steps_per_second),
          fmt::format("{:.4g}", batches_per_second(outcome)),
          fmt::format("{:.4g}", batches_per_second(outcome) * batch_),
          steps ? fmt::format("{:.2f}", *steps / outcome.steps_per_second) : "-",
          fmt::format("{:.1f}", outcome.bytes_per_step / 1e3),
          fmt::format("{:.1f}", outcome.cpu_seconds_per_step * 1e3),
          fmt::format("{:.0f}", outcome.memory_bytes / 1e6),
          times ? fmt::format("{:.2f}", *times) : "-"};
}

void Contest::add_lines(TextTable& table) const {
  for (const auto& one : contestants_) {
    if (!one.done().empty()) table.add_row(line(one));
  }
}

}  // namespace wide::apps::bench
