#include "wide/engine/ledger.h"

#include <fmt/format.h>

#include "wide/base/bytes.h"
#include "wide/codec/lossy.h"

namespace wide::engine {

namespace {

enum Type : std::uint16_t { kGenesis = 1, kCommit = 2, kEval = 3, kStop = 4 };

constexpr std::size_t kNameBytesMax = 2048;  // a name from the wire, and a suffix
// The fewest bytes that a row or a contributor takes: a count is believed only if they are there.
constexpr std::size_t kRowBytes = 8 + 32;
constexpr std::size_t kContributorBytesMin = 4 + 4 + 32 + 2 + 8 + 8;

void put(ByteWriter& out, const std::optional<double>& value) {
  out.put(static_cast<std::uint8_t>(value.has_value()));
  out.put(value.value_or(0));
}

std::optional<double> get_optional(ByteReader& in) {
  const auto there = in.get<std::uint8_t>();
  const auto value = in.get<double>();
  if (there > 1) in.refuse();
  return there == 1 ? std::optional(value) : std::nullopt;
}

void put(ByteWriter& out, const GenesisRecord& record) {
  out.digest(record.job_id);
  out.digest(record.samples_sha256);
  out.digest(record.model_sha256);
  out.digest(record.genesis_sha256);
  out.put(record.parameter_count);
  out.put(record.buffer_count);
  out.text(record.program_version);
}

GenesisRecord get_genesis(ByteReader& in) {
  GenesisRecord record;
  record.job_id = in.digest();
  record.samples_sha256 = in.digest();
  record.model_sha256 = in.digest();
  record.genesis_sha256 = in.digest();
  record.parameter_count = in.get<std::uint64_t>();
  record.buffer_count = in.get<std::uint64_t>();
  record.program_version = in.text(kNameBytesMax);
  return record;
}

void put(ByteWriter& out, const wire::StepScalars& scalars) {
  out.put(scalars.lr);
  out.put(scalars.clip_factor);
  out.put(scalars.step_size);
  out.put(scalars.second_root);
  out.put(scalars.decay_factor);
}

wire::StepScalars get_scalars(ByteReader& in) {
  wire::StepScalars scalars;
  scalars.lr = in.get<float>();
  scalars.clip_factor = in.get<float>();
  scalars.step_size = in.get<float>();
  scalars.second_root = in.get<float>();
  scalars.decay_factor = in.get<float>();
  return scalars;
}

void put(ByteWriter& out, const Contributor& contributor) {
  out.put(contributor.node.value);
  out.text(contributor.name);
  out.digest(contributor.class_hash);
  out.put(contributor.slots);
  out.put(contributor.units);
  out.put(contributor.loss_sum);
}

Contributor get_contributor(ByteReader& in) {
  Contributor contributor;
  contributor.node = NodeId{in.get<std::uint32_t>()};
  contributor.name = in.text(kNameBytesMax);
  contributor.class_hash = in.digest();
  contributor.slots = in.get<std::uint16_t>();
  contributor.units = in.get<std::uint64_t>();
  contributor.loss_sum = in.get<double>();
  return contributor;
}

void put(ByteWriter& out, const CommitRecord& record) {
  out.put(record.step);
  out.put(record.chain_before);
  out.put(record.chain_after);
  put(out, record.scalars);
  out.put(record.loss);
  out.put(record.seconds);
  out.put(record.gradient_codec);
  out.put(record.update_codec);
  out.put(static_cast<std::uint32_t>(record.contributors.size()));
  for (const auto& contributor : record.contributors) put(out, contributor);
  out.put(static_cast<std::uint32_t>(record.rows.size()));
  for (const auto& row : record.rows) {
    out.put(row.block);
    out.put(row.node.value);
    out.digest(row.sha256);
  }
}

std::uint32_t get_count(ByteReader& in, std::size_t bytes_each) {
  const auto count = in.get<std::uint32_t>();
  if (count > in.left() / bytes_each) in.refuse();
  return in.ok() ? count : 0;
}

CommitRecord get_commit(ByteReader& in) {
  CommitRecord record;
  record.step = in.get<Step>();
  record.chain_before = in.get<std::uint64_t>();
  record.chain_after = in.get<std::uint64_t>();
  record.scalars = get_scalars(in);
  record.loss = in.get<double>();
  record.seconds = in.get<double>();
  record.gradient_codec = in.get<std::uint8_t>();
  record.update_codec = in.get<std::uint8_t>();
  if (record.gradient_codec >= codec::kLossyCount || record.update_codec >= codec::kLossyCount) {
    in.refuse();
  }
  for (auto left = get_count(in, kContributorBytesMin); left > 0; --left) {
    record.contributors.push_back(get_contributor(in));
  }
  const auto row_count = get_count(in, kRowBytes);
  record.rows.reserve(row_count);
  for (auto left = row_count; left > 0; --left) {
    LedgerRow row;
    row.block = in.get<Block>();
    row.node = NodeId{in.get<std::uint32_t>()};
    row.sha256 = in.digest();
    record.rows.push_back(row);
  }
  return record;
}

void put(ByteWriter& out, const EvalRecord& record) {
  out.put(record.step);
  out.put(record.loss);
  put(out, record.accuracy);
  put(out, record.perplexity);
}

EvalRecord get_eval(ByteReader& in) {
  EvalRecord record;
  record.step = in.get<Step>();
  record.loss = in.get<double>();
  record.accuracy = get_optional(in);
  record.perplexity = get_optional(in);
  return record;
}

void put(ByteWriter& out, const StopRecord& record) {
  out.put(record.step);
  out.put(record.seconds);
}

StopRecord get_stop(ByteReader& in) {
  StopRecord record;
  record.step = in.get<Step>();
  record.seconds = in.get<double>();
  return record;
}

Floats as_floats(BufferPtr bulk, std::uint64_t bulk_bytes) {
  if (!bulk) return {};
  auto* const values = reinterpret_cast<float*>(bulk->begin());
  return {std::move(bulk), {values, bulk_bytes / sizeof(float)}};
}

std::optional<LedgerRecord> get_record(std::uint16_t type, ByteReader& in) {
  switch (type) {
    case kGenesis:
      return get_genesis(in);
    case kCommit:
      return get_commit(in);
    case kEval:
      return get_eval(in);
    case kStop:
      return get_stop(in);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::uint16_t record_type(const LedgerRecord& record) {
  return static_cast<std::uint16_t>(record.index() + 1);
}

std::vector<std::byte> encode_body(const LedgerRecord& record) {
  std::size_t expected_bytes = 256;
  if (const auto* commit = std::get_if<CommitRecord>(&record)) {
    expected_bytes += commit->rows.size() * kRowBytes + commit->contributors.size() * 128;
  }
  ByteWriter out(expected_bytes);
  std::visit([&out](const auto& body) { put(out, body); }, record);
  return out.take();
}

std::span<const std::byte> bulk_of(const LedgerRecord& record) {
  const auto* commit = std::get_if<CommitRecord>(&record);
  return commit == nullptr ? std::span<const std::byte>() : commit->update.bytes();
}

Result<LedgerRecord> decode_record(std::uint16_t type, std::span<const std::byte> body,
                                   BufferPtr bulk, std::uint64_t bulk_bytes) {
  ByteReader in(body);
  auto record = get_record(type, in);
  if (!record) return fail(Errc::kLogDamaged, fmt::format("a record of unknown type {}", type));
  auto* const commit = std::get_if<CommitRecord>(&*record);
  const bool bulk_fits = commit != nullptr ? bulk_bytes % sizeof(float) == 0 : bulk_bytes == 0;
  if (!in.ok() || in.left() > 0 || !bulk_fits) {
    return fail(Errc::kLogDamaged, fmt::format("a record of type {} that does not decode", type));
  }
  if (commit != nullptr) commit->update = as_floats(std::move(bulk), bulk_bytes);
  return std::move(*record);
}

bool covers_every_block(const CommitRecord& record, Block block_count) {
  if (record.rows.size() != block_count) return false;
  for (Block block = 0; block < block_count; ++block) {
    if (record.rows[block].block != block || record.rows[block].sha256.is_zero()) return false;
  }
  return true;
}

}  // namespace wide::engine
