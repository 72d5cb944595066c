// Writes a job as TOML: sections and keys sorted, one key per line, numbers as short as they can
// be while reading back to the same bits.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <string>

#include "wide/engine/job.h"
#include "wide/engine/job_kinds.h"
#include "wide/engine/job_words.h"

namespace wide::engine {

namespace {

using Keys = std::map<std::string_view, std::string>;  // key, value as TOML
using Sections = std::map<std::string_view, Keys>;

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\') {
      result += '\\';
      result += letter;
    } else if (code < 0x20 || code == 0x7f) {
      result += fmt::format("\\u{:04X}", code);
    } else {
      result += letter;
    }
  }
  return result + '"';
}

// "{}" is the shortest text that reads back to the same bits; TOML wants to see a float in it.
template <class Number>
std::string number(Number value) {
  std::string text = fmt::format("{}", value);
  const bool whole = text.find_first_not_of("-0123456789") == std::string::npos;
  return whole ? text + ".0" : text;
}

template <class Choice, std::size_t kCount>
std::string word(const Word<Choice> (&words)[kCount], Choice choice) {
  return quoted(word_of(words, choice));
}

std::string list(const std::vector<std::uint32_t>& sizes) {
  return fmt::format("[{}]", fmt::join(sizes, ", "));
}

std::string truth(bool value) { return value ? "true" : "false"; }

Keys plain_model_keys(const Model& model) {
  Keys keys = {{"batch_norm", truth(model.batch_norm)}, {"dropout", number(model.dropout)}};
  if (model.kind == ModelKind::kMlp) {
    keys["layers"] = list(model.layers);
  } else {
    keys["channels"] = list(model.channels);
    keys["hidden"] = fmt::to_string(model.hidden);
  }
  return keys;
}

Keys gpt_keys(const Model& model) {
  return {{"layers", fmt::to_string(model.layer_count)},
          {"heads", fmt::to_string(model.heads)},
          {"width", fmt::to_string(model.width)},
          {"context", fmt::to_string(model.context)},
          {"dropout", number(model.dropout)},
          {"vocabulary", fmt::to_string(model.vocabulary)},
          {"tied", truth(model.tied)}};
}

Keys script_keys(const Model& model, SampleKind samples) {
  Keys keys = {{"file", quoted(model.file)}};
  if (!model.sha256.is_zero()) keys["sha256"] = quoted(model.sha256.hex());
  if (is_text(samples)) keys["context"] = fmt::to_string(model.context);
  return keys;
}

Keys keys_of_kind(const Model& model, SampleKind samples) {
  switch (model.kind) {
    case ModelKind::kMlp:
    case ModelKind::kCnn:
      return plain_model_keys(model);
    case ModelKind::kResnet:
      return {{"depth", fmt::to_string(model.depth)}, {"width", fmt::to_string(model.width)}};
    case ModelKind::kGpt:
      return gpt_keys(model);
    case ModelKind::kTorchScript:
      break;
  }
  return script_keys(model, samples);
}

Keys model_keys(const Model& model, SampleKind samples) {
  Keys keys = keys_of_kind(model, samples);
  keys["kind"] = word(kModelWords, model.kind);
  return keys;
}

Keys sample_keys(const Samples& samples) {
  Keys keys = {{"kind", word(kSampleWords, samples.kind)},
               {"ship", word(kShipWords, samples.ship)}};
  if (samples.kind == SampleKind::kSynthetic) {
    keys["samples"] = fmt::to_string(samples.count);
    keys["features"] = fmt::to_string(samples.features);
    keys["classes"] = fmt::to_string(samples.classes);
  } else {
    keys["path"] = quoted(samples.path);
    keys["window_chunks"] = fmt::to_string(samples.window_chunks);
  }
  if (has_labels(samples.kind)) {
    keys["labels"] = quoted(samples.labels);
    keys["classes"] = fmt::to_string(samples.classes);
    keys["mean"] = number(samples.mean);
    keys["std"] = number(samples.deviation);
  }
  return keys;
}

Keys eval_keys(const Eval& eval, SampleKind samples) {
  Keys keys = {{"every", fmt::to_string(eval.every)}, {"batch", fmt::to_string(eval.batch)}};
  if (!brings_its_own_test(samples)) {
    keys["path"] = quoted(eval.path);
    keys["fraction"] = number(eval.fraction);
  }
  if (has_labels(samples)) keys["labels"] = quoted(eval.labels);
  return keys;
}

void add_optimizer_keys(const Train& train, Keys& keys) {
  keys["optimizer"] = word(kOptimizerWords, train.optimizer);
  keys["weight_decay"] = number(train.weight_decay);
  keys["clip_norm"] = number(train.clip_norm);
  if (train.optimizer == OptimizerKind::kSgd) {
    keys["momentum"] = number(train.momentum);
    keys["nesterov"] = truth(train.nesterov);
  } else {
    keys["betas"] = fmt::format("[{}, {}]", number(train.beta1), number(train.beta2));
    keys["eps"] = number(train.eps);
  }
}

Keys train_keys(const Train& train) {
  Keys keys = {{"batch", fmt::to_string(train.batch)},
               {"units_per_step", fmt::to_string(train.units_per_step)},
               {"block_units", fmt::to_string(train.block_units)},
               {"loss", word(kLossWords, train.loss)},
               {"exact", word(kExactWords, train.exact)},
               {"numerics", word(kNumericsWords, train.numerics)},
               {"lr", number(train.lr)},
               {"schedule", word(kScheduleWords, train.schedule)},
               {"warmup_steps", fmt::to_string(train.warmup_steps)}};
  if (train.epochs != 0) keys["epochs"] = number(train.epochs);
  if (train.steps != 0) keys["steps"] = fmt::to_string(train.steps);
  if (train.seconds != 0) keys["seconds"] = number(train.seconds);
  if (train.schedule == Schedule::kStep) {
    keys["decay_every_steps"] = fmt::to_string(train.decay_every_steps);
    keys["decay_rate"] = number(train.decay_rate);
  }
  add_optimizer_keys(train, keys);
  return keys;
}

Keys codec_keys(const Coding& codec) {
  Keys keys = {{"gradient", word(kLossyGradientWords, codec.gradient)},
               {"update", word(kLossyUpdateWords, codec.update)},
               {"lossless", word(kLosslessWords, codec.lossless)}};
  if (codec.automatic()) keys["budget"] = number(codec.budget);
  return keys;
}

Sections sections_of(const Job& job) {
  return {
      {"job", {{"name", quoted(job.name)}, {"seed", fmt::to_string(job.seed)}}},
      {"model", model_keys(job.model, job.samples.kind)},
      {"data", sample_keys(job.samples)},
      {"train", train_keys(job.train)},
      {"eval", eval_keys(job.eval, job.samples.kind)},
      {"strategy",
       {{"kind", word(kStrategyWords, job.strategy)}, {"delay", fmt::to_string(job.delay)}}},
      {"codec", codec_keys(job.codec)},
      {"net",
       {{"buffer_bytes", fmt::to_string(job.net.buffer_bytes)},
        {"no_delay", truth(job.net.no_delay)},
        {"quick_ack", truth(job.net.quick_ack)},
        {"gather", truth(job.net.gather)},
        {"code_bytes_least", fmt::to_string(job.net.code_bytes_least)}}},
  };
}

std::string written(const Sections& sections) {
  std::string text;
  for (const auto& [name, keys] : sections) {
    text += fmt::format("[{}]\n", name);
    for (const auto& [key, value] : keys) text += fmt::format("{} = {}\n", key, value);
  }
  return text;
}

}  // namespace

std::string canonical_text(const Job& job) { return written(sections_of(job)); }

std::string identity_text(const Job& job) {
  auto sections = sections_of(job);
  sections.erase("net");
  sections.at("codec").erase("lossless");
  sections.at("model").erase("file");
  for (const auto key : {"path", "labels", "ship"}) sections.at("data").erase(key);
  for (const auto key : {"path", "labels"}) sections.at("eval").erase(key);
  return written(sections);
}

std::string text_for_nodes(const Job& job) {
  Job told = job;
  for (std::string* path : {&told.model.file, &told.samples.path, &told.samples.labels,
                            &told.eval.path, &told.eval.labels}) {
    path->erase(0, path->rfind('/') + 1);
  }
  if (told.samples.kind == SampleKind::kFashionMnist) told.samples.path.clear();
  return canonical_text(told);
}

}  // namespace wide::engine
