#include "wide/net/open_samples.h"

#include "wide/base/check.h"

namespace wide::net {

namespace {

using std::filesystem::path;

data::Format format_of(engine::SampleKind kind) {
  switch (kind) {
    case engine::SampleKind::kIdx:
      return data::Format::kIdx;
    case engine::SampleKind::kNpy:
      return data::Format::kNpy;
    case engine::SampleKind::kText:
      return data::Format::kText;
    case engine::SampleKind::kTokens:
      return data::Format::kTokens;
    case engine::SampleKind::kFashionMnist:
    case engine::SampleKind::kSynthetic:
      break;
  }
  return data::Format::kFashionMnist;
}

}  // namespace

SampleFiles files_as_named(const engine::Job& job) {
  return {job.samples.path, job.samples.labels, job.eval.path, job.eval.labels};
}

SampleFiles files_in(const path& folder, const engine::Job& job) {
  const auto found = [&](const path& named) {
    if (named.empty()) return named;
    return std::filesystem::is_directory(folder) ? folder / named.filename() : folder;
  };
  SampleFiles files = files_as_named(job);
  const bool is_folder = job.samples.kind == engine::SampleKind::kFashionMnist;
  return {is_folder ? folder : found(files.samples), found(files.labels), found(files.eval_samples),
          found(files.eval_labels)};
}

data::Recipe recipe_of(const engine::Job& job, const SampleFiles& files) {
  WIDE_CHECK(job.samples.kind != engine::SampleKind::kSynthetic);
  data::Recipe recipe;
  recipe.format = format_of(job.samples.kind);
  recipe.path = files.samples;
  recipe.labels = files.labels;
  recipe.eval_path = files.eval_samples;
  recipe.eval_labels = files.eval_labels;
  recipe.eval_fraction = job.eval.fraction;
  recipe.class_count = job.samples.classes;
  recipe.mean = job.samples.mean;
  recipe.deviation = job.samples.deviation;
  recipe.context = job.model.context;
  return recipe;
}

Result<data::DatasetPtr> open_samples(const engine::Job& job, const SampleFiles& files,
                                      const path& cache_folder) {
  const auto& samples = job.samples;
  if (samples.kind == engine::SampleKind::kSynthetic) {
    return data::make_synthetic(job.seed, samples.count, samples.features, samples.classes);
  }
  return data::open_files(recipe_of(job, files), cache_folder);
}

}  // namespace wide::net
