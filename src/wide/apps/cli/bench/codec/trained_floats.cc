#include "wide/apps/cli/bench/codec/trained_floats.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <variant>

#include "wide/apps/cli/bench/whole_run.h"
#include "wide/base/log.h"
#include "wide/base/philox.h"
#include "wide/engine/ledger.h"
#include "wide/history/run_identity.h"
#include "wide/store/atomic_file.h"
#include "wide/store/ledger_log.h"
#include "wide/store/real_disk.h"
#include "wide/store/run_folder.h"
#include "wide/store/tensor_file.h"

namespace wide::apps::bench {

namespace {

constexpr std::string_view kClothes = R"([data]
kind = "idx"
path = "/usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz"
labels = "/usr/share/datasets/fashion-mnist/train-labels-idx1-ubyte.gz"
)";
constexpr std::string_view kJargon = R"([data]
kind = "text"
path = "/usr/share/doc/jargon-text/jargon.txt.gz"
)";

struct SmallJob {
  std::string_view name;
  std::string_view model;
  std::string_view samples;
  std::array<std::uint64_t, 3> steps;  // early, middle, late
};
constexpr std::array<const char*, 3> kStages = {"early", "middle", "late"};

constexpr SmallJob kJobs[] = {
    {"mlp", "kind = \"mlp\"\nlayers = [784, 256, 10]\n", kClothes, {3, 60, 250}},
    {"cnn", "kind = \"cnn\"\nchannels = [16, 32]\nhidden = 64\n", kClothes, {3, 60, 250}},
    {"resnet", "kind = \"resnet\"\ndepth = 8\nwidth = 16\n", kClothes, {3, 30, 100}},
    {"gpt",
     "kind = \"gpt\"\nlayers = 2\nheads = 4\nwidth = 96\ncontext = 64\n",
     kJargon,
     {3, 40, 150}},
};

std::string job_text(const SmallJob& job, std::uint64_t steps) {
  return fmt::format(
      "[job]\nname = \"{}\"\nseed = 1\n[model]\n{}{}[train]\nbatch = 32\nunits_per_step = 1\n"
      "steps = {}\noptimizer = \"adamw\"\nlr = 0.002\nexact = \"bits\"\n",
      job.name, job.model, job.samples, steps);
}

// The last update in the ledger of a run.
Floats last_update(store::Disk& disk, const Digest& job_id) {
  Floats update;
  const store::LogQuestion question{.job_id = job_id, .from = {}, .synced_to = 0};
  value_or_throw(store::read_log(disk, question, [&](const store::ReadRecord& read) {
    auto record =
        engine::decode_record(read.header.type, read.body, read.bulk, read.header.bulk_bytes);
    if (!record) return Result<void>(tl::unexpected(record.error()));
    if (auto* commit = std::get_if<engine::CommitRecord>(&*record)) update = commit->update;
    return Result<void>();
  }));
  return update;
}

std::vector<codec::Matrix> matrices_of(const engine::Layout& layout) {
  std::vector<codec::Matrix> matrices;
  for (const auto& tensor : layout.tensors) {
    if (tensor.is_buffer || tensor.size == 0) continue;
    const std::uint64_t rows = tensor.shape.empty() ? tensor.size : tensor.shape.front();
    matrices.push_back({tensor.offset, rows, tensor.size / rows});
  }
  return matrices;
}

std::vector<float> weights_in(const store::RunFolder& folder, const engine::Layout& layout) {
  const auto file = value_or_throw(store::read_tensor_file(folder.file("weights.safetensors")));
  std::vector<float> weights(layout.parameter_count);
  for (const auto& tensor : file.tensors) {
    const auto& place = layout.find(tensor.name);
    if (place.is_buffer || tensor.values.size() != place.size) continue;
    std::ranges::copy(tensor.values, weights.begin() + static_cast<std::ptrdiff_t>(place.offset));
  }
  return weights;
}

// Two specimens, of a run that has ended.
void read_run(const std::string& run, Specimen specimen, std::vector<Specimen>& into) {
  const auto folder = value_or_throw(store::RunFolder::open(run));
  store::RealDisk disk(folder.path());
  const auto identity = value_or_throw(history::read_identity(disk));
  const Floats update = last_update(disk, identity.job_id);
  if (update.size() < identity.layout.parameter_count) {
    throw Failure(Errc::kRunDiffers, run + ": the ledger has no update");
  }
  const auto gradient = update.values.first(identity.layout.parameter_count);
  specimen.matrices = matrices_of(identity.layout);
  specimen.kind = "gradient";
  specimen.values.assign(gradient.begin(), gradient.end());
  into.push_back(specimen);
  specimen.kind = "weights";
  specimen.values = weights_in(folder, identity.layout);
  into.push_back(std::move(specimen));
}

void train_stages(const SmallJob& job, const Environment& environment, double share,
                  std::vector<Specimen>& into) {
  const ScratchFolder folder(environment);
  for (std::size_t stage = 0; stage < kStages.size(); ++stage) {
    const auto scaled = std::ceil(static_cast<double>(job.steps[stage]) * share);
    const auto steps = std::max(static_cast<std::uint64_t>(scaled), stage + 1);
    log::info("training model={} steps={}", job.name, steps);
    const std::string job_file = folder / "job.toml";
    const std::string run = folder / kStages[stage];
    value_or_throw(store::write_atomically(job_file, job_text(job, steps)));
    train(job_file, run, {"--nodes", "1", "--slots", "1"}, environment);
    read_run(run,
             {.model = std::string(job.name),
              .stage = kStages[stage],
              .kind = "",
              .step = steps,
              .values = {}},
             into);
  }
}

Specimen made_up_specimen(const char* kind, std::uint32_t percent_zero) {
  constexpr std::uint64_t kRows = 512, kColumns = 512;
  const RandomStream random(1, 0x62656e63, percent_zero);
  Specimen specimen{.model = "made-up", .stage = "normal", .kind = kind, .step = 0, .values = {}};
  specimen.values.resize(kRows * kColumns);
  specimen.matrices = {{0, kRows, kColumns}};
  for (std::uint64_t i = 0; i < specimen.values.size(); ++i) {
    if (random.word(4 * i) % 100 < percent_zero) continue;
    specimen.values[i] = static_cast<float>(1e-3 * random.normal(4 * i + 1));
  }
  return specimen;
}

}  // namespace

Specimens trained(const Environment& environment, double share) {
  Specimens specimens;
  for (const auto& job : kJobs) {
    try {
      train_stages(job, environment, share, specimens.all);
    } catch (const Failure& failure) {
      specimens.notes.push_back(
          fmt::format("{} was not trained to its end: {}", job.name, describe(failure.error())));
    }
  }
  if (!specimens.all.empty()) return specimens;
  auto instead = made_up("nothing could be trained here");
  instead.notes.insert(instead.notes.begin(), specimens.notes.begin(), specimens.notes.end());
  return instead;
}

Specimens made_up(const std::string& why) {
  Specimens specimens;
  specimens.all.push_back(made_up_specimen("gradient", 0));
  specimens.all.push_back(made_up_specimen("sparse-gradient", 70));
  specimens.notes.push_back(
      fmt::format("Made-up floats, normally distributed, not those of training: {}.", why));
  return specimens;
}

}  // namespace wide::apps::bench
