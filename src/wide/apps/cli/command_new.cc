// wide new KIND: a commented job file to start from.

#include <fmt/format.h>

#include <filesystem>

#include <nlohmann/json.hpp>

#include "wide/apps/cli/commands.h"
#include "wide/apps/cli/job_template.h"
#include "wide/apps/cli/report_flags.h"
#include "wide/store/atomic_file.h"

namespace wide::apps {

namespace {
struct NewFlags {
  std::string kind;
  std::string samples;
  std::string out;
  bool force = false;
  ReportFlags report;
};

bool parse(const Invocation& invocation, NewFlags& flags) {
  CommandLine line("wide", "new", "Writes a commented job file to start from.",
                   "  wide new cnn\n"
                   "  wide new gpt --data tokens --out story.toml\n"
                   "  wide new resnet --out -\n");
  line.positional("KIND", flags.kind, "of model: mlp, cnn, resnet, gpt, torchscript");
  line.text("--data", flags.samples,
            "kind of samples: fashion-mnist, synthetic, idx, npy, text, tokens");
  line.text("--out", flags.out, "the file to write; default KIND.toml; - for stdout");
  line.flag("--force", flags.force, "replace a file that is there");
  flags.report.declare(line, invocation.environment);
  return line.parse(invocation.arguments);
}

void write_job(const std::string& out, const std::string& text, bool force) {
  if (!force && std::filesystem::exists(std::filesystem::symlink_status(out))) {
    throw Failure(
        Errc::kUsage,
        fmt::format("{} is there already: --force replaces it, --out FILE names another", out));
  }
  value_or_throw(store::write_atomically(out, text));
}
}  // namespace

ExitCode run_new(const Invocation& invocation) {
  NewFlags flags;
  if (!parse(invocation, flags)) return ExitCode::kOk;
  flags.report.apply();
  const auto model = model_kind(flags.kind);
  const auto samples = flags.samples.empty() ? usual_samples(model) : sample_kind(flags.samples);
  const std::string out = flags.out.empty() ? flags.kind + ".toml" : flags.out;
  const std::string text = job_template(model, samples, out == "-" ? flags.kind + ".toml" : out);

  if (out == "-") {
    if (flags.report.json) throw Failure(Errc::kUsage, "--out - and --json both want stdout");
    fmt::print("{}", text);
    return ExitCode::kOk;
  }
  write_job(out, text, flags.force);
  if (flags.report.json) {
    print_json({{"file", out}, {"model", flags.kind}, {"data", word_of(samples)}});
  } else {
    fmt::print("{} written; train it with: wide train {}\n", out, out);
  }
  return ExitCode::kOk;
}

}  // namespace wide::apps
