#pragma once
// For tests: one job of every kind of model, small, with the samples that it learns from.

#include <memory>
#include <string>
#include <vector>

#include "wide/base/digest.h"
#include "wide/train/exported_scripts.h"
#include "wide/train/made_up_samples.h"
#include "wide/train/script_file.h"
#include "wide/train/torch_factory.h"

namespace wide::train {

struct Subject {
  std::string name;
  engine::Job job;
  SampleSpace space;
  std::filesystem::path file;  // TorchScript
};

inline SampleSpace space_of_images() {
  SampleSpace space;
  space.train_count = 100;
  space.eval_count = 40;
  space.sample_shape = {1, 28, 28};
  space.class_count = 10;
  return space;
}

inline SampleSpace space_of_text() {
  SampleSpace space = space_of_images();
  space.sample_shape = {12};
  space.class_count = 16;
  space.tokens = true;
  space.target_count = 12;
  return space;
}

inline engine::Job job_of(engine::ModelKind kind, bool dropout) {
  engine::Job job;
  job.model.kind = kind;
  job.model.layers = {784, 32, 16, 10};
  job.model.channels = {8, 16};
  job.model.hidden = 32;
  job.model.batch_norm = true;
  job.model.depth = 8;
  job.model.width = kind == engine::ModelKind::kGpt ? 16 : 4;
  job.model.layer_count = 2;
  job.model.heads = 2;
  job.model.context = 12;
  job.model.vocabulary = 20;
  job.model.dropout = dropout ? kExportedDropout : 0.0f;
  job.train.batch = 13;
  job.train.units_per_step = 7;
  return job;
}

// mlp, cnn, resnet, gpt, or what export_models.py writes: mobile, lstm, vit.
inline Subject make_subject(const std::string& name, bool dropout = true) {
  using engine::ModelKind;
  if (name == "mlp") return {name, job_of(ModelKind::kMlp, dropout), space_of_images(), {}};
  if (name == "cnn") return {name, job_of(ModelKind::kCnn, dropout), space_of_images(), {}};
  if (name == "resnet") return {name, job_of(ModelKind::kResnet, dropout), space_of_images(), {}};
  if (name == "gpt") return {name, job_of(ModelKind::kGpt, dropout), space_of_text(), {}};
  const auto space = name == "lstm" ? space_of_text() : space_of_images();
  return {name, job_of(ModelKind::kTorchScript, dropout), space, exported_script(name, dropout)};
}

inline const std::vector<std::string> kSubjects{"mlp",    "cnn",  "resnet", "gpt",
                                                "mobile", "lstm", "vit"};

// Reads a TorchScript file's genesis and puts its hash into the job; makes a built-in's.
inline engine::Genesis genesis_of(Subject& subject) {
  if (subject.job.model.kind != engine::ModelKind::kTorchScript) {
    return engine::make_genesis(subject.job, subject.space);
  }
  auto script = value_or_throw(read_script_file(subject.file));
  subject.job.model.sha256 = script.sha256;
  return std::move(script.genesis);
}

// What one slot needs, over the same made-up weights each time.
class Bench final {
 public:
  explicit Bench(Subject subject, bool same_sample = false)
      : subject_(std::move(subject)),
        layout_(genesis_of(subject_).layout),
        factory_(make_torch_factory(subject_.job, layout_,
                                    std::make_shared<MadeUpSamples>(subject_.space, same_sample),
                                    subject_.file)),
        weights_(made_up_weights(layout_, buffers_)),
        computer_(factory_->make_computer()) {}

  std::vector<float> gradient(Step step, Unit unit) {
    std::vector<float> out(layout_.value_count());
    computer_->gradient(weights_, step, unit, out);
    return out;
  }

  Subject subject_;
  engine::Layout layout_;
  BufferPool buffers_;
  std::unique_ptr<engine::ComputerFactory> factory_;
  engine::Weights weights_;
  std::unique_ptr<engine::UnitComputer> computer_;
};

inline std::string hash(std::span<const float> values) {
  return sha256(std::as_bytes(values)).hex();
}

}  // namespace wide::train
