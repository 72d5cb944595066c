#include "wide/apps/cli/summary_json.h"

#include <nlohmann/json.hpp>

#include "wide/apps/edge/error_report.h"

namespace wide::apps {

namespace {
using Json = nlohmann::ordered_json;

constexpr double kNanoseconds = 1e-9;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

double in_seconds(std::uint64_t nanoseconds) {
  return static_cast<double>(nanoseconds) * kNanoseconds;
}

// What there was to say over what travelled.
double compression_ratio(std::uint64_t raw_bytes, std::uint64_t bytes) {
  return bytes > 0 ? static_cast<double>(raw_bytes) / static_cast<double>(bytes) : 1.0;
}

Json node_json(const engine::NodeSummary& node) {
  Json json;
  json["name"] = node.name;
  json["slots"] = node.slots;
  json["units"] = node.units;
  json["share"] = node.share;
  json["samples_per_second"] = node.samples_per_second;
  json["compute_seconds"] = in_seconds(node.times.compute_ns);
  json["encode_seconds"] = in_seconds(node.times.encode_ns);
  json["network_seconds"] = in_seconds(node.times.network_ns);
  json["wait_seconds"] = in_seconds(node.times.wait_ns);
  json["bytes_sent"] = node.bytes_sent;
  json["bytes_received"] = node.bytes_received;
  json["compression_ratio"] =
      compression_ratio(node.raw_bytes, node.bytes_sent + node.bytes_received);
  json["loss_mean"] = node.loss_mean;
  json["rejected"] = node.rejected;
  return json;
}

void add_plan(Json& json, const engine::Summary& summary) {
  json["job"] = summary.job;
  json["job_id"] = summary.job_id.hex();
  json["strategy"] = summary.strategy;
  json["steps"] = summary.steps;
  json["epochs"] = summary.epochs;
  json["units"] = summary.units;
  json["batches"] = summary.units;  // a unit is a batch
  json["samples"] = summary.samples;
  json["seconds"] = summary.seconds;
  json["batches_per_second"] = rate(static_cast<double>(summary.units), summary.seconds);
  json["samples_per_second"] = rate(static_cast<double>(summary.samples), summary.seconds);
  json["efficiency"] = or_null(summary.efficiency);
}

void add_outcome(Json& json, const engine::Summary& summary) {
  json["loss_first"] = summary.loss_first;
  json["loss_last"] = summary.loss_last;
  json["loss_mean"] = summary.loss_mean;
  json["accuracy"] = or_null(summary.accuracy);
  json["eval_loss"] = or_null(summary.eval_loss);
  json["perplexity"] = or_null(summary.perplexity);
  json["weights_sha256"] = summary.weights_sha256.hex();
  json["state_hash"] = summary.state_hash.hex();
  json["numerics_classes"] = summary.numerics_classes;
  json["reproducible"] = summary.reproducible;
}

void add_costs(Json& json, const RunFacts& facts) {
  const auto& summary = facts.summary;
  const std::uint64_t bytes = summary.bytes_sent + summary.bytes_received;
  json["bytes_sent"] = summary.bytes_sent;
  json["bytes_received"] = summary.bytes_received;
  json["shipped_bytes"] = summary.shipped_bytes;
  json["raw_bytes"] = summary.raw_bytes;
  json["compression_ratio"] = compression_ratio(summary.raw_bytes, bytes);
  json["encode_seconds"] = in_seconds(summary.encode_ns);
  json["network_bytes_per_second"] = rate(static_cast<double>(bytes), summary.seconds);
  json["memory_bytes_peak"] = facts.memory_bytes_peak;
  json["pool_cpu_seconds"] = facts.pool_cpu_seconds;
  json["log_seconds"] = facts.log_seconds;
  json["leases_reissued"] = summary.leases_reissued;
  json["leases_hedged"] = summary.leases_hedged;
  json["shares_late"] = summary.shares_late;
  json["shares_rejected"] = summary.shares_rejected;
  json["audits_equal"] = summary.audits_equal;
  json["audits_different"] = summary.audits_different;
  json["resyncs"] = summary.resyncs;
  json["resumed"] = summary.resumed > 0;
  json["results_kept"] = summary.results_kept;
  json["recomputed_equal"] = summary.recomputed_equal;
  json["recomputed_different"] = summary.recomputed_different;
}
}  // namespace

double rate(double amount, double seconds) { return seconds > 0 ? amount / seconds : 0; }

Json summary_json(const RunFacts& facts) {
  Json json;
  add_plan(json, facts.summary);
  add_outcome(json, facts.summary);
  add_costs(json, facts);
  json["interrupted"] = facts.interrupted;
  json["run_folder"] = facts.run_folder;
  if (facts.error) json["error"] = error_json(*facts.error);
  json["nodes"] = Json::array();
  for (const auto& node : facts.summary.nodes) json["nodes"].push_back(node_json(node));
  return json;
}

}  // namespace wide::apps
