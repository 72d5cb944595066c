#include "wide/apps/cli/script_model.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "wide/apps/cli/node_program.h"
#include "wide/apps/edge/error_report.h"
#include "wide/base/log.h"
#include "wide/store/tensor_file.h"

namespace wide::apps {

namespace {

// A name of our own in the folder for such things; gone at the end.
class TemporaryFile final {
 public:
  TemporaryFile() {
    path_ = (std::filesystem::temp_directory_path() / "wide-genesis-XXXXXX").string();
    const int file = mkstemp(path_.data());
    if (file < 0) throw Failure(Errc::kCannotWrite, "no temporary file could be made");
    close(file);
  }
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// What it said of an error, as one; its words are on stderr already where it said nothing.
Error error_of(const Answer& answer, const std::string& file) {
  const auto json = nlohmann::json::parse(answer.output, nullptr, false);
  if (auto error = error_from_json(json)) return *error;
  return {Errc::kModelUnfit, fmt::format("{}: wide-node could not read it", file)};
}

store::TensorFile describe(const std::string& file, const Environment& environment,
                           engine::Numerics numerics) {
  const TemporaryFile out;
  NodeCall call;
  call.program = find_node_program(environment);
  call.environment = node_environment(environment, numerics);
  call.arguments = {"describe", file, "--out", out.path(), "--json"};
  call.quiet = true;  // its error comes back to us, and we say it
  const auto answer = ask_program(call);
  if (answer.exit_code != 0) throw Failure(error_of(answer, file));
  return value_or_throw(store::read_tensor_file(out.path()));
}

std::uint64_t number_in(const store::Metadata& metadata, const std::string& key) {
  const auto found = metadata.find(key);
  std::uint64_t value = 0;
  if (found == metadata.end()) throw Failure(Errc::kBug, "wide-node describe left out " + key);
  std::from_chars(found->second.data(), found->second.data() + found->second.size(), value);
  return value;
}

engine::Genesis genesis_of(const store::TensorFile& described) {
  const std::uint64_t parameters = number_in(described.metadata, "parameters");
  engine::Genesis genesis;
  for (const auto& tensor : described.tensors) {
    const std::uint64_t offset = genesis.values.size();
    const bool buffer = offset >= parameters;
    genesis.layout.tensors.push_back(
        {tensor.name, tensor.shape, offset, tensor.values.size(), buffer});
    genesis.values.insert(genesis.values.end(), tensor.values.begin(), tensor.values.end());
  }
  genesis.layout.parameter_count = parameters;
  genesis.layout.buffer_count = genesis.values.size() - parameters;
  return genesis;
}

}  // namespace

RunRequest with_script(RunRequest request, const Environment& environment) {
  auto& model = request.job.model;
  if (model.kind != engine::ModelKind::kTorchScript) return request;
  const auto described = describe(model.file, environment, request.job.train.numerics);
  const auto sha256 = parse_digest(described.metadata.at("model_sha256"));
  if (!sha256) throw Failure(Errc::kBug, "wide-node describe gave no hash");
  if (!model.sha256.is_zero() && model.sha256 != *sha256) {
    throw Failure(Errc::kModelDiffers, fmt::format("{} hashes to {}, the job names {}", model.file,
                                                   sha256->short_hex(), model.sha256.short_hex()));
  }
  model.sha256 = *sha256;
  request.genesis = genesis_of(described);
  if (described.metadata.at("draws_numbers") == "true" && request.slots > 1) {
    log::info("the model draws random numbers: {} nodes of one slot each",
              request.nodes * request.slots);
    request.nodes *= request.slots;
    request.slots = 1;
  }
  return request;
}

}  // namespace wide::apps
