#include "wide/apps/cli/bench/peers/ddp.h"

#include <fmt/format.h>

#include <array>

#include "wide/apps/cli/bench/peers/ddp_peer_script.h"
#include "wide/base/error.h"
#include "wide/store/atomic_file.h"

namespace wide::apps::bench {

namespace {

constexpr Patience kImportPatience(60);
constexpr Patience kTrainPatience(300);  // longer than the script's own

nlohmann::json parsed(const std::string& line) {
  auto said = nlohmann::json::parse(line, nullptr, false);
  if (!said.is_object()) throw Failure(Errc::kComputeFailed, "python3 did not answer in JSON");
  if (said.contains("error")) {
    throw Failure(Errc::kComputeFailed, "DDP: " + said.at("error").get<std::string>());
  }
  return said;
}

nlohmann::json question(const SharedTask& task, const DdpSetting& setting) {
  return {{"ranks", setting.ranks},        {"hook", setting.hook},
          {"pinned", setting.pinned},      {"seconds", setting.seconds},
          {"batch", task.batch},           {"lr", task.lr},
          {"layers", task.layers},         {"samples", task.file("samples")},
          {"labels", task.file("labels")}, {"weights", task.file("weights")},
          {"device", setting.device},      {"namespaces", setting.namespaces}};
}

Outcome outcome_of(const nlohmann::json& said) {
  Outcome outcome;
  outcome.steps = said.at("steps").get<double>();
  outcome.steps_per_second = outcome.steps / said.at("seconds").get<double>();
  outcome.bytes_per_step = said.at("bytes").get<double>() / outcome.steps;
  outcome.cpu_seconds_per_step = said.at("cpu_seconds").get<double>() / outcome.steps;
  outcome.memory_bytes = said.at("memory_bytes").get<double>();
  for (const auto& point : said.at("curve")) {
    outcome.curve.push_back({point.at(0).get<double>(), point.at(2).get<double>()});
  }
  return outcome;
}

}  // namespace

Ddp::Ddp(const ScratchFolder& scratch, const Environment& environment) {
  const std::string script = scratch / "ddp_peer.py";
  value_or_throw(store::write_atomically(script, kDdpPeerScript));
  NodeCall call;
  call.program = "/usr/bin/python3";  // Debian's: another one on the PATH has no torch of Debian's
  call.arguments = {script};
  const std::array<Variable, 3> settings = {
      {{"OMP_NUM_THREADS", "1"}, {"OPENBLAS_NUM_THREADS", "1"}, {"PYTHONDONTWRITEBYTECODE", "1"}}};
  call.environment = environment.with(settings);
  call.quiet = true;
  python_ = std::make_unique<LineProgram>(call);
  torch_version_ = parsed(python_->hear(kImportPatience)).at("torch").get<std::string>();
}

Outcome Ddp::train(const SharedTask& task, const DdpSetting& setting) {
  python_->say(question(task, setting).dump());
  try {
    return outcome_of(parsed(python_->hear(kTrainPatience)));
  } catch (const nlohmann::json::exception& odd) {
    throw Failure(Errc::kComputeFailed, fmt::format("DDP: {}", odd.what()));
  }
}

}  // namespace wide::apps::bench
