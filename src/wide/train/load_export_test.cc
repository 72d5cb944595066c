// Weights of a run, written as safetensors, give the same answers in PyTorch: by
// scripts/load_export.py, on samples that both sides read from the same files. (A cnn's are
// compared by tests/exact_run_test.cc.)

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>

#include "wide/data/scratch_folder.h"
#include "wide/train/subjects.h"

namespace wide::train {
namespace {

constexpr std::uint64_t kCount = 40;

// The first bytes of made-up files: pixels, or tokens below 16.
std::string made_up_bytes(const std::string& name, std::size_t count, unsigned below) {
  std::vector<float> values(count);
  fill_made_up(name, 1.0f, 1.0f, values);
  std::string bytes;
  for (const float value : values) {
    bytes += static_cast<char>(static_cast<unsigned>(value * static_cast<float>(below) / 2));
  }
  return bytes;
}

// Pixels divided by 255, or a text cut into samples: as load_export.py reads the same bytes.
class BytesOfFiles final : public data::Dataset {
 public:
  BytesOfFiles(SampleSpace space, std::string samples, std::string labels)
      : space_(std::move(space)), samples_(std::move(samples)), labels_(std::move(labels)) {}

  const SampleSpace& space() const override { return space_; }
  void load_train(std::uint64_t index, const data::SampleRoom& room) const override {
    load_eval(index, room);
  }
  void load_eval(std::uint64_t index, const data::SampleRoom& room) const override {
    const auto* sample = samples_.data() + index * space_.sample_size();
    for (std::size_t i = 0; i < room.values.size(); ++i) {
      room.values[i] = static_cast<float>(static_cast<unsigned char>(sample[i])) / 255.0f;
    }
    for (std::size_t i = 0; i < room.tokens.size(); ++i) room.tokens[i] = sample[i];
    for (std::size_t i = 0; i < room.labels.size(); ++i) {
      room.labels[i] = space_.tokens ? sample[i + 1] : labels_[index];
    }
  }

 private:
  SampleSpace space_;
  std::string samples_;
  std::string labels_;
};

// What a run's export says of its model; see model_json() in apps/cli.
std::string description_of(const engine::Model& model) {
  using engine::ModelKind;
  if (model.kind == ModelKind::kMlp) {
    return R"({"kind":"mlp","layers":[784,32,16,10],"batch_norm":true})";
  }
  if (model.kind == ModelKind::kResnet) {
    return R"({"kind":"resnet","depth":8,"width":4,"classes":10,"sample_shape":[1,28,28]})";
  }
  if (model.kind == ModelKind::kGpt) {
    return R"({"kind":"gpt","layers":2,"heads":2,"width":16,"context":12,"vocabulary":20,)"
           R"("tied":true})";
  }
  return R"({"kind":"torchscript"})";
}

std::string quoted(const std::string& json) {
  std::string text;
  for (const char letter : json) text += letter == '"' ? "\\\"" : std::string(1, letter);
  return text;
}

std::string safetensors(const engine::Model& model, const engine::Layout& layout,
                        std::span<const float> values) {
  std::string header =
      fmt::format(R"({{"__metadata__":{{"model":"{}"}})", quoted(description_of(model)));
  for (const auto& spec : layout.tensors) {
    std::string shape;
    for (const auto extent : spec.shape)
      shape += (shape.empty() ? "" : ",") + fmt::to_string(extent);
    header += fmt::format(R"(,"{}":{{"dtype":"F32","shape":[{}],"data_offsets":[{},{}]}})",
                          spec.name, shape, spec.offset * 4, (spec.offset + spec.size) * 4);
  }
  header += "}";
  const std::uint64_t header_bytes = header.size();
  const auto bytes = std::as_bytes(values);
  return std::string(reinterpret_cast<const char*>(&header_bytes), 8) + header +
         std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void write(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string output_of(const std::string& command) {
  std::unique_ptr<FILE, int (*)(FILE*)> output(popen(command.c_str(), "r"), pclose);
  std::string text;
  std::array<char, 4096> part;
  while (fgets(part.data(), part.size(), output.get()) != nullptr) text += part.data();
  return text;
}

double number_after(const std::string& text, const std::string& word) {
  const auto found = text.find("\"" + word + "\": ");
  return found == text.npos ? -1 : std::stod(text.substr(found + word.size() + 4));
}

class LoadExport : public testing::TestWithParam<std::string> {};

TEST_P(LoadExport, GivesTheSameAnswersInPyTorch) {
  const data::ScratchFolder folder;
  auto subject = make_subject(GetParam(), /*dropout=*/false);
  const bool is_text = subject.space.tokens;
  const auto pixels =
      made_up_bytes("samples", kCount * subject.space.sample_size() + is_text, is_text ? 16 : 256);
  const auto labels = made_up_bytes("labels", kCount, 10);
  const auto samples = std::make_shared<BytesOfFiles>(subject.space, pixels, labels);
  const auto layout = genesis_of(subject).layout;
  BufferPool buffers;
  const auto weights = made_up_weights(layout, buffers);
  const auto outcome = make_torch_factory(subject.job, layout, samples, subject.file)
                           ->make_computer()
                           ->evaluate(weights, 0, kCount);
  write(folder / "text", pixels);
  write(folder / "images", std::string("\0\0\x08\x03\0\0\0\x28\0\0\0\x1c\0\0\0\x1c", 16) + pixels);
  write(folder / "labels", std::string("\0\0\x08\x01\0\0\0\x28", 8) + labels);
  write(folder / "w", safetensors(subject.job.model, layout, weights->values.values));

  const auto options = is_text ? fmt::format("--text {0}/text --context 12", folder.path().string())
                               : fmt::format("--images {0}/images --labels {0}/labels --pixels 0 1",
                                             folder.path().string());
  const auto script = subject.file.empty() ? "" : "--script " + subject.file.string();
  const auto answer =
      output_of(fmt::format("/usr/bin/python3 {}/../../scripts/load_export.py {}/w {} {}",
                            WIDE_GOLDEN_FOLDER, folder.path().string(), options, script));

  EXPECT_EQ(number_after(answer, "samples"), kCount) << answer;
  EXPECT_NEAR(number_after(answer, "loss_sum"), outcome.loss_sum, 1e-5 * outcome.loss_sum);
  if (!is_text) {
    EXPECT_EQ(number_after(answer, "correct"), outcome.correct_count);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, LoadExport,
                         testing::Values("mlp", "resnet", "gpt", "mobile", "lstm"),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace wide::train
