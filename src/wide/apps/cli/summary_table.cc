#include "wide/apps/cli/summary_table.h"

#include <fmt/format.h>

#include "wide/apps/cli/figures.h"
#include "wide/apps/cli/text_table.h"

namespace wide::apps {

namespace {
std::string row(std::string_view name, const std::string& fact) {
  return fmt::format("{:<14}  {}\n", name, printable(fact));
}

std::string work_rows(const engine::Summary& summary) {
  const double batches = rate(static_cast<double>(summary.units), summary.seconds);
  const double samples = rate(static_cast<double>(summary.samples), summary.seconds);
  std::string text;
  text += row("job", fmt::format("{}  ({}, id {})", summary.job, summary.strategy,
                                 summary.job_id.short_hex()));
  text += row("steps",
              fmt::format("{}  ({:.2f} epochs, {} batches, {} samples)", grouped(summary.steps),
                          summary.epochs, grouped(summary.units), grouped(summary.samples)));
  text += row("time", fmt::format("{:.1f} s  ({} samples/s, {} batches/s)", summary.seconds,
                                  short_rate(samples), short_rate(batches)));
  if (summary.efficiency) text += row("efficiency", fmt::format("{:.3f}", *summary.efficiency));
  return text;
}

std::string outcome_rows(const engine::Summary& summary) {
  std::string text =
      row("loss", fmt::format("{:.4f}  (first {:.4f}, mean {:.4f})", summary.loss_last,
                              summary.loss_first, summary.loss_mean));
  const std::string loss =
      summary.eval_loss ? fmt::format("  (loss {:.4f})", *summary.eval_loss) : "";
  if (summary.accuracy) {
    text += row("test accuracy", fmt::format("{:.4f}{}", *summary.accuracy, loss));
  } else if (summary.perplexity) {
    text += row("test loss", fmt::format("{:.4f} nats  (perplexity {:.2f})", *summary.eval_loss,
                                         *summary.perplexity));
  } else if (summary.eval_loss) {
    text += row("test loss", fmt::format("{:.6g}", *summary.eval_loss));
  }
  const bool same = summary.reproducible;
  text += row("numerics", fmt::format("{} class{}, {}", summary.numerics_classes,
                                      summary.numerics_classes == 1 ? "" : "es",
                                      same ? "reproducible" : "not reproducible bit for bit"));
  return text;
}

std::string cost_rows(const RunFacts& facts) {
  const auto& summary = facts.summary;
  const auto sent = static_cast<double>(summary.bytes_sent);
  const auto received = static_cast<double>(summary.bytes_received);
  std::string text;
  text += row("network",
              fmt::format("{} sent, {} received  ({}/s)", short_bytes(sent), short_bytes(received),
                          short_bytes(rate(sent + received, summary.seconds))));
  if (const auto raw = static_cast<double>(summary.raw_bytes); raw > sent + received) {
    text += row("compressed",
                fmt::format("from {}, {:.2f} times", short_bytes(raw), raw / (sent + received)));
  }
  if (summary.shipped_bytes > 0) {
    text += row("samples sent", short_bytes(static_cast<double>(summary.shipped_bytes)));
  }
  text += row("memory peak", short_bytes(static_cast<double>(facts.memory_bytes_peak)));
  text += row("pool CPU", fmt::format("{:.1f} s", facts.pool_cpu_seconds));
  text += row("leases", fmt::format("{} reissued, {} hedged", summary.leases_reissued,
                                    summary.leases_hedged));
  text += row("shares",
              fmt::format("{} late, {} rejected", summary.shares_late, summary.shares_rejected));
  if (summary.resyncs > 0) text += row("resyncs", grouped(summary.resyncs));
  text += row("run folder", facts.run_folder);
  return text;
}

std::string span(std::uint64_t nanoseconds) {
  return fmt::format("{:.1f}", static_cast<double>(nanoseconds) * 1e-9);
}

std::string node_rows(const engine::Summary& summary) {
  TextTable table({"node", "slots", "units", "share", "samples/s", "compute s", "network s",
                   "wait s", "sent", "received", "loss", "rejected"});
  for (const auto& node : summary.nodes) {
    table.add_row({node.name, std::to_string(node.slots), grouped(node.units),
                   fmt::format("{:.1f}%", 100 * node.share), short_rate(node.samples_per_second),
                   span(node.times.compute_ns), span(node.times.network_ns),
                   span(node.times.wait_ns), short_bytes(static_cast<double>(node.bytes_sent)),
                   short_bytes(static_cast<double>(node.bytes_received)),
                   fmt::format("{:.4f}", node.loss_mean), grouped(node.rejected)});
  }
  return table.text();
}
}  // namespace

std::string summary_table(const RunFacts& facts) {
  std::string text = work_rows(facts.summary) + outcome_rows(facts.summary) + cost_rows(facts);
  if (facts.interrupted) text += row("ended", "by Ctrl-C, at the last complete step");
  if (!facts.summary.nodes.empty()) text += "\n" + node_rows(facts.summary);
  return text + "\nweights_sha256 " + facts.summary.weights_sha256.hex() + "\n";
}

}  // namespace wide::apps
