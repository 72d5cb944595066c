#pragma once
// The fields of every message in the order in which they travel, said once: the encoder and the
// decoder walk the same lists, so they cannot disagree. docs/wire-format.md draws the result.
//
// `Walker` has one verb per sort of field (see message_codec_encode.cc, message_codec_decode.cc).
// A count or a bulk names the limit that holds for it.

#include "wide/wire/message_codec.h"
#include "wide/wire/messages.h"

namespace wide::wire {

// The fewest bytes a row can take: a count of rows is believed only if so many bytes are left.
template <class Row>
inline constexpr std::size_t kRowBytesMin = 0;
template <>
inline constexpr std::size_t kRowBytesMin<BlockRow> = 34;
template <>
inline constexpr std::size_t kRowBytesMin<EvalRow> = 16;
template <>
inline constexpr std::size_t kRowBytesMin<NodeStatus> = 46;
template <>
inline constexpr std::size_t kRowBytesMin<ChunkName> = 8;
template <>
inline constexpr std::size_t kRowBytesMin<KeptRun> = 16;

void fields(auto& walk, Hello& hello) {
  walk.role(hello.role);
  walk.number(hello.slots);
  walk.text(hello.program_version);
  walk.text(hello.name);
  walk.digest(hello.job_id);
  walk.number(hello.seat);
}

void fields(auto& walk, Welcome& welcome) {
  walk.id(welcome.node);
  walk.text(welcome.name);
  walk.digest(welcome.job_id);
  walk.digest(welcome.samples_sha256);
  walk.digest(welcome.genesis_sha256);
  walk.number(welcome.heartbeat_ms);
  walk.number(welcome.step);
  walk.job_text(welcome.job_text);
}

void fields(auto& walk, Refused& refused) {
  walk.number(refused.code);
  walk.text(refused.reason);
}

void fields(auto& walk, KeptRun& run) {
  walk.number(run.step);
  walk.number(run.first_block);
  walk.number(run.block_count);
}

void fields(auto& walk, Ready& ready) {
  walk.text(ready.libraries);
  walk.digest(ready.class_hash);
  walk.flag(ready.holds_replica);
  walk.number(ready.step);
  walk.number(ready.chain);
  walk.number(ready.oldest);
  walk.rows(ready.kept, &Limits::kept_count_max);
}

void fields(auto& walk, Want& want) { walk.number(want.leases); }

void fields(auto& walk, Lease& lease) {
  walk.id(lease.lease);
  walk.number(lease.step);
  walk.number(lease.base);
  walk.number(lease.base_chain);
  walk.number(lease.first_block);
  walk.count(lease.block_count, &Limits::block_count_max);
  walk.number(lease.codec);
  walk.number(lease.steps_onward);
}

void fields(auto& walk, BlockRow& row) {
  walk.digest(row.sha256);
  walk.number(row.helper);
}

void fields(auto& walk, NodeTimes& times) {
  walk.number(times.compute_ns);
  walk.number(times.encode_ns);
  walk.number(times.network_ns);
  walk.number(times.wait_ns);
}

void fields(auto& walk, LeaseResult& result) {
  walk.id(result.lease);
  walk.number(result.step);
  walk.number(result.base_chain);
  walk.number(result.first_block);
  walk.number(result.want);
  walk.number(result.loss_sum);
  walk.number(result.compute_ns);
  fields(walk, result.times);
  walk.rows(result.rows, &Limits::block_count_max);
  walk.coded(result.sum, &Limits::block_bytes, result.rows.size());
}

void fields(auto& walk, StepScalars& scalars) {
  walk.number(scalars.lr);
  walk.number(scalars.clip_factor);
  walk.number(scalars.step_size);
  walk.number(scalars.second_root);
  walk.number(scalars.decay_factor);
}

void fields(auto& walk, Update& update) {
  walk.number(update.step);
  walk.number(update.chain_after);
  fields(walk, update.scalars);
  walk.coded(update.values, &Limits::update_bytes, 1);
}

void fields(auto& walk, Snapshot& snapshot) {
  walk.number(snapshot.step);
  walk.number(snapshot.chain);
  walk.digest(snapshot.state_hash);
  walk.bulk(snapshot.state, &Limits::state_count);
}

void fields(auto& walk, EvalLease& lease) {
  walk.id(lease.lease);
  walk.number(lease.base);
  walk.number(lease.base_chain);
  walk.number(lease.first_unit);
  walk.count(lease.unit_count, &Limits::eval_unit_max);
}

void fields(auto& walk, EvalRow& row) {
  walk.number(row.loss_sum);
  walk.number(row.correct_count);
}

void fields(auto& walk, EvalResult& result) {
  walk.id(result.lease);
  walk.number(result.base);
  walk.number(result.base_chain);
  walk.number(result.first_unit);
  walk.number(result.want);
  walk.rows(result.rows, &Limits::eval_unit_max);
}

void fields(auto& walk, Heartbeat& heartbeat) {
  walk.number(heartbeat.units_done);
  fields(walk, heartbeat.times);
}

void fields(auto& walk, Leave& leave) { walk.text(leave.reason); }

void fields(auto& walk, Bye& bye) {
  walk.number(bye.code);
  walk.text(bye.reason);
  walk.number(bye.step);
  walk.digest(bye.state_hash);
}

void fields(auto& walk, Resync& resync) {
  walk.number(resync.step);
  walk.number(resync.chain);
  walk.text(resync.reason);
}

void fields(auto&, StatusRequest&) {}

void fields(auto& walk, NodeStatus& node) {
  walk.text(node.name);
  walk.number(node.slots);
  walk.number(node.leases_in_flight);
  walk.number(node.units);
  walk.number(node.samples_per_second);
  walk.number(node.seconds_since_heard);
  walk.number(node.rejected);
  walk.text(node.state);
}

void fields(auto& walk, StatusReport& report) {
  walk.text(report.job_name);
  walk.text(report.state);
  walk.number(report.step);
  walk.number(report.steps_total);
  walk.number(report.epoch);
  walk.number(report.loss);
  walk.number(report.samples_per_second);
  walk.number(report.elapsed_seconds);
  walk.number(report.left_seconds);
  walk.rows(report.nodes, &Limits::status_bytes_max);  // each has many bytes, so this is ample
}

void fields(auto&, WantSamples&) {}

void fields(auto& walk, Manifest& manifest) {
  walk.bulk(manifest.bytes, &Limits::manifest_bytes_max);
}

void fields(auto& walk, ChunkName& name) { walk.number(name.chunk); }

void fields(auto& walk, Fetch& fetch) { walk.rows(fetch.chunks, &Limits::fetch_count_max); }

void fields(auto& walk, Chunk& chunk) {
  walk.number(chunk.chunk);
  walk.bulk(chunk.bytes, &Limits::chunk_bytes_max);
}

void fields(auto& walk, Samples& samples) {
  walk.flag(samples.held_out);
  walk.number(samples.first);
  walk.number(samples.count);
  walk.bulk(samples.records, &Limits::sample_bytes_max);
}

void fields(auto& walk, Echo& echo) {
  walk.number(echo.number);
  walk.text(echo.filler);
}

void fields(auto& walk, Measure& measure) { walk.number(measure.milliseconds); }

void fields(auto& walk, Yield& yield) { walk.number(yield.step); }

void fields(auto& walk, Committed& committed) {
  walk.number(committed.step);
  walk.number(committed.chain_after);
}

void fields(auto& walk, Measured& measured) {
  walk.number(measured.units);
  walk.number(measured.seconds);
}

}  // namespace wide::wire
