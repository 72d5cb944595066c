// wide export DIR --out FILE: the weights of a run as safetensors, checked on the way.

#include <fmt/format.h>

#include <filesystem>

#include <nlohmann/json.hpp>

#include "wide/apps/cli/commands.h"
#include "wide/apps/cli/figures.h"
#include "wide/apps/cli/report_flags.h"
#include "wide/base/digest.h"
#include "wide/store/run_folder.h"
#include "wide/store/tensor_file.h"

namespace wide::apps {

namespace {
constexpr const char* kWeights = "weights.safetensors";

store::TensorFile read_weights(const store::RunFolder& folder) {
  if (!std::filesystem::exists(folder.file(kWeights))) {
    throw Failure(Errc::kRunMissing, fmt::format("{}: the run has not ended: there is no {}",
                                                 folder.path().string(), kWeights));
  }
  return value_or_throw(store::read_tensor_file(folder.file(kWeights)));
}

std::string digest_of(const store::TensorFile& file) {
  Sha256 hash;
  for (const auto& tensor : file.tensors) hash.update(std::as_bytes(std::span(tensor.values)));
  return hash.finish().hex();
}

// What summary.json says the weights hash to; empty where there is no such file.
std::string summary_digest(const store::RunFolder& folder) {
  const auto text = folder.read("summary.json");
  if (!text) return {};
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  if (!json.is_object() || !json.contains("weights_sha256")) return {};
  const auto& found = json["weights_sha256"];
  return found.is_string() ? found.get<std::string>() : std::string();
}

void expect(const store::RunFolder& folder, const std::string& digest, const std::string& promised,
            std::string_view source) {
  if (promised.empty() || promised == digest) return;
  throw Failure(Errc::kTensorFileCorrupt,
                fmt::format("{}: the weights hash to {}, but {} says {}",
                            folder.file(kWeights).string(), digest, source, promised));
}

std::vector<store::TensorView> views(const store::TensorFile& file) {
  std::vector<store::TensorView> tensors;
  for (const auto& tensor : file.tensors) {
    tensors.push_back({tensor.name, tensor.shape, tensor.values});
  }
  return tensors;
}

void report(const store::TensorFile& file, const std::string& digest, const std::string& out,
            bool json) {
  std::uint64_t count = 0;
  for (const auto& tensor : file.tensors) count += tensor.values.size();
  const auto step = file.metadata.find("step");
  if (json) {
    print_json({{"file", out},
                {"tensors", file.tensors.size()},
                {"values", count},
                {"step", step == file.metadata.end() ? "" : step->second},
                {"weights_sha256", digest}});
    return;
  }
  fmt::print("{}: {} tensors, {} values\nweights_sha256 {}\n", out, file.tensors.size(),
             grouped(count), digest);
}
}  // namespace

ExitCode run_export(const Invocation& invocation) {
  std::string run;
  std::string out;
  ReportFlags flags;
  CommandLine line("wide", "export", "Writes the weights of a run as safetensors.",
                   "  wide export runs/first --out model.safetensors\n");
  line.positional("DIR", run, "the run folder");
  line.text("--out", out, "the file to write");
  flags.declare(line, invocation.environment);
  if (!line.parse(invocation.arguments)) return ExitCode::kOk;
  flags.apply();
  if (out.empty()) throw Failure(Errc::kUsage, "wide export needs --out FILE");

  const auto folder = value_or_throw(store::RunFolder::open(run));
  const auto weights = read_weights(folder);
  const std::string digest = digest_of(weights);
  const auto promised = weights.metadata.find("weights_sha256");
  if (promised != weights.metadata.end()) expect(folder, digest, promised->second, "the file");
  expect(folder, digest, summary_digest(folder), "summary.json");
  value_or_throw(store::write_tensor_file(out, views(weights), weights.metadata));
  report(weights, digest, out, flags.json);
  return ExitCode::kOk;
}

}  // namespace wide::apps
