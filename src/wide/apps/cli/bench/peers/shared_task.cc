#include "wide/apps/cli/bench/peers/shared_task.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>

#include "wide/base/error.h"
#include "wide/data/recipe.h"
#include "wide/engine/genesis.h"
#include "wide/store/atomic_file.h"

namespace wide::apps::bench {

namespace {

constexpr std::uint32_t kClasses = 10;
constexpr std::uint32_t kTinySamples = 4096;
constexpr std::uint32_t kMiddleSamples = 12'000;
constexpr std::uint64_t kSeed = 1;

// The npy format, version 1.0: magic, length of the header, header padded to 64 bytes, values.
std::string npy_head(const std::string& type, const std::string& shape) {
  std::string head =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type, shape);
  constexpr std::size_t kBefore = 10;
  head.append(63 - (kBefore + head.size()) % 64, ' ');
  head += '\n';
  std::string magic("\x93NUMPY\x01\x00", 8);
  magic += static_cast<char>(head.size() & 0xff);
  magic += static_cast<char>(head.size() >> 8);
  return magic + head;
}

template <class T>
void write_npy(const std::string& path, const std::string& type, const std::string& shape,
               const std::vector<T>& values) {
  const std::string head = npy_head(type, shape);
  const std::array pieces = {std::as_bytes(std::span(head)), std::as_bytes(std::span(values))};
  value_or_throw(store::write_atomically(path, pieces));
}

void write_samples(const SharedTask& task, const data::Dataset& samples, std::uint64_t count) {
  const std::uint64_t width = samples.space().sample_size();
  std::vector<float> values(count * width);
  std::vector<std::int64_t> labels(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    samples.load_train(i, {.values = std::span(values).subspan(i * width, width),
                           .tokens = {},
                           .labels = std::span(labels).subspan(i, 1),
                           .targets = {}});
  }
  write_npy(task.file("samples"), "<f4", fmt::format("{}, {}", count, width), values);
  write_npy(task.file("labels"), "<i8", fmt::format("{},", count), labels);
}

void write_weights(const SharedTask& task) {
  const auto job = value_or_throw(engine::parse_job(task.job_text(1, ""), "the task's job"));
  SampleSpace space;
  space.sample_shape = {task.layers.front()};
  space.class_count = task.layers.back();
  const auto genesis = engine::make_genesis(job, space);
  write_npy(task.file("weights"), "<f4", fmt::format("{},", genesis.values.size()), genesis.values);
}

void write_task(const SharedTask& task, const data::Dataset& samples, std::uint64_t count) {
  std::filesystem::create_directories(task.folder);
  write_samples(task, samples, std::min(count, samples.space().train_count));
  write_weights(task);
}

}  // namespace

std::string SharedTask::job_text(std::uint32_t ranks, const std::string& codec) const {
  return fmt::format(
      "[job]\nname = \"peers\"\nseed = {}\n[model]\nkind = \"mlp\"\nlayers = [{}]\n"
      "[data]\nkind = \"npy\"\npath = \"{}\"\nlabels = \"{}\"\nclasses = {}\nship = \"local\"\n"
      "[train]\nbatch = {}\nunits_per_step = {}\nseconds = 60\noptimizer = \"adam\"\nlr = {}\n"
      "exact = \"bits\"\n[codec]\n{}",
      kSeed, fmt::join(layers, ", "), file("samples"), file("labels"), layers.back(), batch, ranks,
      lr, codec);
}

SharedTask tiny_task(const ScratchFolder& scratch) {
  SharedTask task;
  task.name = "the 2024 task, 430 parameters, batches of 32";
  task.layers = {10, 20, kClasses};
  task.lr = 0.01;
  task.folder = scratch / "tiny";
  write_task(task, *data::make_synthetic(kSeed, kTinySamples, task.layers.front(), kClasses),
             kTinySamples);
  return task;
}

SharedTask middle_task(const ScratchFolder& scratch, const Environment& environment) {
  SharedTask task;
  task.name = "784-256-10 on Fashion-MNIST, 203,530 parameters, batches of 32";
  task.layers = {784, 256, kClasses};
  task.lr = 0.001;
  task.folder = scratch / "middle";
  const auto cache =
      data::cache_folder(environment.value("XDG_CACHE_HOME"), environment.value("HOME"));
  const auto clothes = data::open_files(data::Recipe{}, cache);
  if (!clothes) task.name = "784-256-10 on made-up samples, 203,530 parameters, batches of 32";
  write_task(task,
             clothes ? **clothes
                     : *data::make_synthetic(kSeed, kMiddleSamples, task.layers.front(), kClasses),
             kMiddleSamples);
  return task;
}

}  // namespace wide::apps::bench
