#include "wide/apps/cli/run_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include <nlohmann/json.hpp>

#include "wide/history/run_identity.h"
#include "wide/store/tensor_file.h"

namespace wide::apps {

namespace {
using Json = nlohmann::ordered_json;

std::string file_word(std::string_view name) {
  std::string word(name.substr(0, 60));
  const auto unfit = [](unsigned char letter) {
    return !std::isalnum(letter) && letter != '.' && letter != '_' && letter != '-';
  };
  std::ranges::replace_if(word, unfit, '-');
  word.erase(0, word.find_first_not_of(".-"));
  return word.empty() ? "job" : word;
}

std::string stamp(std::time_t now) {
  std::tm local{};
  localtime_r(&now, &local);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y%m%d-%H%M%S", &local);
  return text.data();
}

std::string dumped(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::vector<store::TensorView> views(const engine::Layout& layout, std::span<const float> values) {
  std::vector<store::TensorView> tensors;
  for (const auto& tensor : layout.tensors) {
    tensors.push_back({tensor.name, tensor.shape, values.subspan(tensor.offset, tensor.size)});
  }
  return tensors;
}
}  // namespace

std::filesystem::path default_run_folder(std::string_view job_name, std::time_t now) {
  const std::filesystem::path runs = "runs";
  const std::string name = file_word(job_name) + "-" + stamp(now);
  auto folder = runs / name;
  for (int again = 2; std::filesystem::exists(folder); ++again) {
    folder = runs / fmt::format("{}-{}", name, again);
  }
  return folder;
}

Json model_json(const engine::Model& model, const SampleSpace& space) {
  Json json;
  switch (model.kind) {
    case engine::ModelKind::kMlp:
      json = {{"kind", "mlp"}, {"layers", model.layers}, {"batch_norm", model.batch_norm}};
      break;
    case engine::ModelKind::kCnn:
      json = {{"kind", "cnn"},
              {"channels", model.channels},
              {"hidden", model.hidden},
              {"batch_norm", model.batch_norm}};
      break;
    case engine::ModelKind::kResnet:
      json = {{"kind", "resnet"}, {"depth", model.depth}, {"width", model.width}};
      break;
    case engine::ModelKind::kGpt:
      json = {
          {"kind", "gpt"},        {"layers", model.layer_count}, {"heads", model.heads},
          {"width", model.width}, {"context", model.context},    {"vocabulary", model.vocabulary},
          {"tied", model.tied}};
      break;
    case engine::ModelKind::kTorchScript:
      json = {{"kind", "torchscript"}, {"sha256", model.sha256.hex()}};
      break;
  }
  json["classes"] = space.output_count();
  json["sample_shape"] = space.sample_shape;
  return json;
}

void record_start(const store::RunFolder& folder, const engine::Pool& pool,
                  const SampleSpace& space) {
  history::RunIdentity identity;
  identity.job_id = pool.id();
  identity.genesis_sha256 = pool.genesis().genesis_sha256;
  identity.layout = pool.layout();
  identity.space = space;
  value_or_throw(folder.write("genesis.json", history::genesis_json(identity)));
  value_or_throw(folder.write("job.toml", engine::canonical_text(pool.job())));
}

void record_end(const store::RunFolder& folder, const engine::Pool& pool, const SampleSpace& space,
                const RunFacts& facts) {
  const auto weights = pool.replica().weights();
  const store::Metadata metadata = {
      {"format", "pt"},
      {"job_id", pool.id().hex()},
      {"step", std::to_string(weights->step)},
      {"weights_sha256", facts.summary.weights_sha256.hex()},
      {"model", model_json(pool.job().model, space).dump()},
  };
  value_or_throw(store::write_tensor_file(folder.file("weights.safetensors"),
                                          views(pool.layout(), weights->values.values), metadata));
  value_or_throw(folder.write("summary.json", dumped(summary_json(facts))));
}

}  // namespace wide::apps
