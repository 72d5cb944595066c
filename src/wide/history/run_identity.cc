#include "wide/history/run_identity.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace wide::history {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kGenesisFile = "genesis.json";
constexpr const char* kJobFile = "job.toml";

Json tensors_json(const engine::Layout& layout) {
  Json tensors = Json::array();
  for (const auto& tensor : layout.tensors) {
    tensors.push_back({{"name", tensor.name},
                       {"shape", tensor.shape},
                       {"offset", tensor.offset},
                       {"size", tensor.size},
                       {"buffer", tensor.is_buffer}});
  }
  return tensors;
}

engine::Layout parse_layout(const Json& json) {
  engine::Layout layout;
  std::uint64_t expected_offset = 0;
  for (const auto& found : json.at("tensors")) {
    engine::TensorSpec tensor;
    found.at("name").get_to(tensor.name);
    found.at("shape").get_to(tensor.shape);
    found.at("offset").get_to(tensor.offset);
    found.at("size").get_to(tensor.size);
    found.at("buffer").get_to(tensor.is_buffer);
    if (tensor.offset != expected_offset || tensor.size > engine::kParametersMax) {
      throw Failure(Errc::kRunDiffers, "the tensors leave gaps or overlap");
    }
    expected_offset += tensor.size;
    (tensor.is_buffer ? layout.buffer_count : layout.parameter_count) += tensor.size;
    layout.tensors.push_back(std::move(tensor));
  }
  if (layout.value_count() > engine::kParametersMax) {
    throw Failure(Errc::kRunDiffers, "more parameters than any model may have");
  }
  return layout;
}

Json space_json(const SampleSpace& space) {
  return {{"sha256", space.sha256.hex()},
          {"train", space.train_count},
          {"eval", space.eval_count},
          {"shape", space.sample_shape},
          {"classes", space.class_count},
          {"tokens", space.tokens},
          {"targets", space.target_count},
          {"chunks", space.chunk_count},
          {"per_chunk", space.samples_per_chunk}};
}

Digest digest_at(const Json& json, const char* key) {
  const auto digest = parse_digest(json.at(key).get<std::string>());
  if (!digest) throw Failure(Errc::kRunDiffers, fmt::format("'{}' is no digest", key));
  return *digest;
}

SampleSpace parse_space(const Json& json) {
  SampleSpace space;
  space.sha256 = digest_at(json, "sha256");
  json.at("train").get_to(space.train_count);
  json.at("eval").get_to(space.eval_count);
  json.at("shape").get_to(space.sample_shape);
  json.at("classes").get_to(space.class_count);
  json.at("tokens").get_to(space.tokens);
  json.at("targets").get_to(space.target_count);
  json.at("chunks").get_to(space.chunk_count);
  json.at("per_chunk").get_to(space.samples_per_chunk);
  return space;
}

Result<std::string> read_text(store::Disk& disk, const char* name) {
  const auto bytes = store::read_whole(disk, name);
  if (!bytes) return tl::unexpected(bytes.error());
  return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

void parse_genesis(const Json& json, RunIdentity& identity) {
  identity.job_id = digest_at(json, "job_id");
  identity.genesis_sha256 = digest_at(json, "weights_sha256");
  identity.layout = parse_layout(json);
  identity.space = parse_space(json.at("samples"));
}

// All that genesis.json says.
Result<RunIdentity> read_genesis(store::Disk& disk) {
  const auto text = read_text(disk, kGenesisFile);
  if (!text) return tl::unexpected(text.error());
  const std::string where = disk.path(kGenesisFile);
  const auto json = Json::parse(*text, nullptr, false);
  if (!json.is_object()) return fail(Errc::kRunDiffers, where + ": it is no JSON object");
  if (json.value("format", Json()) != kRunFormat) {
    return fail(Errc::kOtherFileVersion,
                fmt::format("{}: a run of format {}, this program knows {}", where,
                            json.value("format", Json()).dump(), kRunFormat));
  }
  RunIdentity identity;
  try {
    parse_genesis(json, identity);
  } catch (const Json::exception& wrong) {
    return fail(Errc::kRunDiffers, fmt::format("{}: {}", where, wrong.what()));
  } catch (const Failure& wrong) {
    return fail(wrong.error().code, fmt::format("{}: {}", where, wrong.error().detail));
  }
  return identity;
}

// The parts must name each other: anything else is a folder that somebody has mixed.
Result<void> check(const RunIdentity& identity, const std::string& where) {
  if (engine::job_id(identity.job, identity.space.sha256) != identity.job_id) {
    return fail(Errc::kRunDiffers,
                fmt::format("{}: job.toml is not the job that genesis.json names", where));
  }
  if (!identity.genesis) return {};
  if (identity.genesis->sha256() != identity.genesis_sha256 ||
      identity.genesis->layout.value_count() != identity.layout.value_count()) {
    return fail(Errc::kRunDiffers,
                fmt::format("{}: this version of wide begins the job with other weights", where));
  }
  return {};
}

}  // namespace

std::string genesis_json(const RunIdentity& identity) {
  const Json json{{"format", kRunFormat},
                  {"job_id", identity.job_id.hex()},
                  {"weights_sha256", identity.genesis_sha256.hex()},
                  {"samples_sha256", identity.space.sha256.hex()},
                  {"parameters", identity.layout.parameter_count},
                  {"buffers", identity.layout.buffer_count},
                  {"samples", space_json(identity.space)},
                  {"tensors", tensors_json(identity.layout)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<RunIdentity> read_identity(store::Disk& disk) {
  const auto job_text = read_text(disk, kJobFile);
  if (!job_text) return tl::unexpected(job_text.error());
  auto job = engine::parse_job(*job_text, disk.path(kJobFile));
  if (!job) return tl::unexpected(job.error());
  auto identity = read_genesis(disk);
  if (!identity) return identity;
  identity->job = std::move(*job);
  if (identity->job.model.kind != engine::ModelKind::kTorchScript) {
    identity->genesis = engine::make_genesis(identity->job, identity->space);
  }
  if (auto good = check(*identity, disk.path(kGenesisFile)); !good) {
    return tl::unexpected(good.error());
  }
  return identity;
}

Result<Digest> read_genesis_sha256(store::Disk& disk) {
  const auto identity = read_genesis(disk);
  if (!identity) return tl::unexpected(identity.error());
  return identity->genesis_sha256;
}

}  // namespace wide::history
