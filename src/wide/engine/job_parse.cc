// Which keys a job file has. Reads every key that the contract names, complains about the others,
// and reports the complaint that stands first in the file.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "wide/engine/job.h"
#include "wide/engine/job_kinds.h"
#include "wide/engine/job_section.h"
#include "wide/engine/job_validate.h"
#include "wide/engine/job_words.h"

namespace wide::engine {

namespace {

constexpr std::string_view kModelKeys[] = {
    "layers", "channels", "hidden",     "batch_norm", "dropout", "depth", "width",
    "heads",  "context",  "vocabulary", "tied",       "file",    "sha256"};
constexpr std::string_view kSampleKeys[] = {"path",    "labels", "ship", "samples",      "features",
                                            "classes", "mean",   "std",  "window_chunks"};
constexpr std::string_view kEvalKeys[] = {"path", "labels", "fraction"};

void read_resnet(Section& section, Model& model) {
  section.read("depth", model.depth);
  section.read("width", model.width);
}

void read_gpt(Section& section, Model& model) {
  model.width = 128;
  section.read("layers", model.layer_count);
  section.read("heads", model.heads);
  section.read("width", model.width);
  section.read("context", model.context);
  section.read("dropout", model.dropout);
  section.read("vocabulary", model.vocabulary);
  section.read("tied", model.tied);
}

void read_script(Section& section, SampleKind samples, Model& model) {
  section.read("file", model.file);
  section.demand("file", "the TorchScript file");
  section.read_digest("sha256", model.sha256);
  if (is_text(samples)) section.read("context", model.context);
}

void read_plain(Section& section, Model& model) {
  section.read("batch_norm", model.batch_norm);
  section.read("dropout", model.dropout);
  if (model.kind == ModelKind::kMlp) {
    section.read("layers", model.layers);
  } else {
    section.read("channels", model.channels);
    section.read("hidden", model.hidden);
  }
}

void read_model(Section& section, SampleKind samples, Model& model) {
  if (!section.read("kind", kModelWords, model.kind)) return;
  switch (model.kind) {
    case ModelKind::kMlp:
    case ModelKind::kCnn:
      read_plain(section, model);
      break;
    case ModelKind::kResnet:
      read_resnet(section, model);
      break;
    case ModelKind::kGpt:
      read_gpt(section, model);
      break;
    case ModelKind::kTorchScript:
      read_script(section, samples, model);
      if (!is_text(samples)) {
        section.refuse({"context"}, fmt::format("a torchscript model of {}", name_of(samples)));
      }
      break;
  }
  section.refuse(kModelKeys, name_of(model.kind));
  section.refuse_unknown();
}

void read_samples(Section& section, Samples& samples) {
  if (!section.read("kind", kSampleWords, samples.kind)) return;
  section.read("ship", kShipWords, samples.ship);
  if (samples.kind == SampleKind::kSynthetic) {
    section.read("samples", samples.count);
    section.read("features", samples.features);
    section.read("classes", samples.classes);
  } else {
    section.read("path", samples.path);
    section.read("window_chunks", samples.window_chunks);
    if (samples.kind != SampleKind::kFashionMnist) section.demand("path", "a file of samples");
  }
  if (has_labels(samples.kind)) {
    samples.classes = 0;
    section.read("labels", samples.labels);
    section.demand("labels", "a file of labels");
    section.read("classes", samples.classes);
    section.read("mean", samples.mean);
    section.read("std", samples.deviation);
  }
  section.refuse(kSampleKeys, name_of(samples.kind));
  section.refuse_unknown();
}

void read_eval(Section& section, SampleKind samples, Eval& eval) {
  if (is_text(samples)) eval.batch = 16;
  section.read("every", eval.every);
  section.read("batch", eval.batch);
  if (!brings_its_own_test(samples)) {
    section.read("path", eval.path);
    section.read("fraction", eval.fraction);
  }
  if (has_labels(samples)) section.read("labels", eval.labels);
  section.refuse(kEvalKeys, name_of(samples));
  section.refuse_unknown();
}

void read_optimizer(Section& section, Train& train, Complaints& complaints) {
  section.read("optimizer", kOptimizerWords, train.optimizer);
  if (train.optimizer != OptimizerKind::kAdamW) train.weight_decay = 0;
  section.read("weight_decay", train.weight_decay);
  section.read("clip_norm", train.clip_norm);
  if (train.optimizer == OptimizerKind::kSgd) {
    section.read("momentum", train.momentum);
    section.read("nesterov", train.nesterov);
    section.refuse({"betas", "eps"}, "sgd");
    return;
  }
  std::vector<double> betas = {train.beta1, train.beta2};
  section.read("betas", betas);
  if (betas.size() == 2) {
    train.beta1 = betas[0];
    train.beta2 = betas[1];
  } else {
    complaints.add(section.line_of("betas"), Errc::kWrongType,
                   "[train] betas must be two numbers: betas = [0.9, 0.999]");
  }
  section.read("eps", train.eps);
  section.refuse({"momentum", "nesterov"}, word_of(kOptimizerWords, train.optimizer));
}

void read_schedule(Section& section, Train& train) {
  section.read("lr", train.lr);
  section.read("schedule", kScheduleWords, train.schedule);
  section.read("warmup_steps", train.warmup_steps);
  if (train.schedule == Schedule::kStep) {
    section.read("decay_every_steps", train.decay_every_steps);
    section.read("decay_rate", train.decay_rate);
  } else {
    section.refuse({"decay_every_steps", "decay_rate"},
                   fmt::format("schedule = \"{}\"", word_of(kScheduleWords, train.schedule)));
  }
}

// Zero stands for "not this way" in a Job, so a file may not say it.
void read_end(Section& section, Train& train, Complaints& complaints) {
  section.read("epochs", train.epochs);
  section.read("steps", train.steps);
  section.read("seconds", train.seconds);
  for (const auto key : {"epochs", "steps", "seconds"}) {
    const bool zero = std::string_view(key) == "epochs"  ? train.epochs == 0
                      : std::string_view(key) == "steps" ? train.steps == 0
                                                         : train.seconds == 0;
    if (!section.has(key) || !zero) continue;
    complaints.add(section.line_of(key), Errc::kOutOfRange,
                   fmt::format("[train] {} must be above 0", key));
  }
  if (!section.has("epochs") && !section.has("steps") && !section.has("seconds")) train.epochs = 1;
}

void read_train(Section& section, Train& train, Complaints& complaints) {
  section.read("batch", train.batch);
  section.read("units_per_step", train.units_per_step);
  section.read("block_units", train.block_units);
  section.read("loss", kLossWords, train.loss);
  section.read("exact", kExactWords, train.exact);
  section.read("numerics", kNumericsWords, train.numerics);
  read_end(section, train, complaints);
  read_schedule(section, train);
  read_optimizer(section, train, complaints);
  section.refuse_unknown();
}

using Sections = std::map<std::string_view, Section>;

void read_rest(Sections& sections, Job& job) {
  auto& heading = sections.at("job");
  heading.read("name", job.name);
  heading.read("seed", job.seed);
  heading.refuse_unknown();
  auto& strategy = sections.at("strategy");
  if (strategy.read("kind", kStrategyWords, job.strategy)) {
    strategy.read("delay", job.delay);
    strategy.refuse_unknown();
  }
  auto& codec = sections.at("codec");
  codec.read("gradient", kLossyGradientWords, job.codec.gradient);
  codec.read("update", kLossyUpdateWords, job.codec.update);
  codec.read("lossless", kLosslessWords, job.codec.lossless);
  if (job.codec.automatic()) codec.read("budget", job.codec.budget);
  codec.refuse_unknown();
  auto& net = sections.at("net");
  net.read("buffer_bytes", job.net.buffer_bytes);
  net.read("no_delay", job.net.no_delay);
  net.read("quick_ack", job.net.quick_ack);
  net.read("gather", job.net.gather);
  net.read("code_bytes_least", job.net.code_bytes_least);
  net.refuse_unknown();
}

constexpr std::string_view kSectionNames[] = {"job",  "model",    "data",  "train",
                                              "eval", "strategy", "codec", "net"};

void refuse_unknown_sections(const Entry& root, Complaints& complaints) {
  for (const auto& entry : root.entries) {
    if (std::ranges::find(kSectionNames, entry.key) != std::end(kSectionNames)) continue;
    const auto name = shown(entry.key);
    complaints.add(entry.key_line, Errc::kUnknownKey,
                   entry.kind == Entry::Kind::kTable
                       ? fmt::format("unknown section [{}]{}", name,
                                     suggestion(entry.key, kSectionNames, "[", "]"))
                       : fmt::format("unknown key '{}' outside any section", name));
  }
}

// Nobody should train something by leaving it out. Told only where nothing else is wrong: a typo in
// a section's name explains more.
void demand_sections(const Sections& sections, Complaints& complaints) {
  if (complaints.first()) return;
  const bool model = sections.at("model").is_there();
  const bool samples = sections.at("data").is_there();
  if (model && samples) return;
  complaints.add(0, Errc::kOutOfRange,
                 fmt::format("there is no {}: a job says what to train and on what; `wide new cnn` "
                             "writes a file to start from",
                             model     ? "[data] section"
                             : samples ? "[model] section"
                                       : "[model] section and no [data] section"));
}

void complain_of_values(const Job& job, const Sections& sections, Complaints& complaints) {
  const auto violation = complaints.first() ? std::nullopt : find_violation(job);
  if (!violation) return;
  const auto dot = violation->key.find('.');
  const auto& section = sections.at(std::string_view(violation->key).substr(0, dot));
  complaints.add(section.line_of(violation->key.substr(dot + 1)), violation->code, violation->text);
}

Result<Job> read_job(const Entry& root, std::string_view source) {
  Complaints complaints(source);
  Sections sections;
  for (const auto name : kSectionNames) sections.try_emplace(name, root, name, complaints);
  refuse_unknown_sections(root, complaints);

  Job job;
  read_samples(sections.at("data"), job.samples);
  read_model(sections.at("model"), job.samples.kind, job.model);
  read_train(sections.at("train"), job.train, complaints);
  read_eval(sections.at("eval"), job.samples.kind, job.eval);
  read_rest(sections, job);

  demand_sections(sections, complaints);
  complain_of_values(job, sections, complaints);
  if (complaints.first()) return tl::unexpected(*complaints.first());
  return job;
}

}  // namespace

Result<Job> parse_job(std::string_view text, std::string_view source) {
  if (text.size() > kJobTextBytesMax) {
    return fail(Errc::kJobSyntax, fmt::format("{}: {} bytes are more than a job may have ({})",
                                              source, text.size(), kJobTextBytesMax));
  }
  const auto root = read_entries(text, source);
  if (!root) return tl::unexpected(root.error());
  return read_job(*root, source);
}

}  // namespace wide::engine
