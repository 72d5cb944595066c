#include "wide/apps/node/describe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <nlohmann/json.hpp>

#include "wide/apps/edge/command_line.h"
#include "wide/store/tensor_file.h"
#include "wide/train/script_file.h"

namespace wide::apps {

namespace {
using Json = nlohmann::ordered_json;

constexpr int kDraws = 10;  // exit codes between the two processes of draws_numbers()
constexpr int kDrawsNot = 11;

// Parameters first, then buffers, as the layout has them; `parameters` says where they part.
void write_genesis(const train::ScriptFile& script, const std::string& out) {
  const auto& layout = script.genesis.layout;
  const auto& values = script.genesis.values;
  std::vector<store::TensorView> tensors;
  for (const auto& tensor : layout.tensors) {
    tensors.push_back(
        {tensor.name, tensor.shape, std::span(values).subspan(tensor.offset, tensor.size)});
  }
  const store::Metadata metadata = {
      {"model_sha256", script.sha256.hex()},
      {"parameters", std::to_string(layout.parameter_count)},
      {"draws_numbers", script.draws_numbers ? "true" : "false"},
  };
  value_or_throw(store::write_tensor_file(out, tensors, metadata));
}

Json as_json(const train::ScriptFile& script, const std::string& file) {
  Json json;
  json["file"] = file;
  json["sha256"] = script.sha256.hex();
  json["parameters"] = script.genesis.layout.parameter_count;
  json["buffers"] = script.genesis.layout.buffer_count;
  json["genesis_sha256"] = script.genesis.sha256().hex();
  json["draws_numbers"] = script.draws_numbers;
  json["tensors"] = Json::array();
  for (const auto& tensor : script.genesis.layout.tensors) {
    json["tensors"].push_back(
        {{"name", tensor.name}, {"shape", tensor.shape}, {"buffer", tensor.is_buffer}});
  }
  return json;
}

void print_for_people(const train::ScriptFile& script, const std::string& file) {
  const auto& layout = script.genesis.layout;
  fmt::print("{}\nsha256      {}\nparameters  {}\nbuffers     {}\ndraws random numbers: {}\n\n",
             file, script.sha256.hex(), layout.parameter_count, layout.buffer_count,
             script.draws_numbers ? "yes, so each slot is a process of its own" : "no");
  for (const auto& tensor : layout.tensors) {
    fmt::print("{:<48} {}{}\n", tensor.name, fmt::join(tensor.shape, " × "),
               tensor.is_buffer ? "  (buffer)" : "");
  }
}
}  // namespace

int run_describe(const std::vector<std::string>& arguments) {
  std::string file;
  std::string out;
  bool json = false;
  CommandLine line("wide-node", "describe", "A TorchScript file: its tensors and its genesis.",
                   "  wide-node describe model.pt\n");
  line.positional("FILE", file, "saved with torch.jit.script(model).save(FILE)");
  line.text("--out", out, "write the values at step 0 there, as safetensors");
  line.flag("--json", json, "one JSON object on stdout");
  if (!line.parse(arguments)) return 0;
  const auto script = value_or_throw(train::read_script_file(file));
  if (!out.empty()) write_genesis(script, out);
  if (json) {
    fmt::print("{}\n", as_json(script, file).dump(2));
  } else {
    print_for_people(script, file);
  }
  return 0;
}

bool draws_numbers(const std::string& file, const Digest& expected) {
  const pid_t child = fork();
  if (child == 0) {
    const auto script = train::read_script_file(file, expected);
    _exit(!script ? 1 : script->draws_numbers ? kDraws : kDrawsNot);
  }
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  const int code = child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (code == kDraws || code == kDrawsNot) return code == kDraws;
  value_or_throw(train::read_script_file(file, expected));  // what is wrong with it, in words
  throw Failure(Errc::kMachine, fmt::format("{} could not be looked at", file));
}

}  // namespace wide::apps
