#include "wide/data/file_set.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "wide/data/fashion_mnist.h"

namespace wide::data {
namespace {

tl::unexpected<Error> out_of_range(std::string why) {
  return fail(Errc::kOutOfRange, std::move(why));
}

bool is_text(Format format) { return format == Format::kText || format == Format::kTokens; }

Result<void> check_numbers(const Recipe& recipe) {
  if (!std::isfinite(recipe.mean) || !std::isfinite(recipe.deviation) || recipe.deviation <= 0) {
    return out_of_range(fmt::format("values cannot be normalised by mean {} and deviation {}",
                                    recipe.mean, recipe.deviation));
  }
  if (!(recipe.eval_fraction >= 0 && recipe.eval_fraction < 1)) {
    return out_of_range(fmt::format("{} is no fraction to hold out", recipe.eval_fraction));
  }
  if (is_text(recipe.format) && recipe.context == 0) {
    return out_of_range("a sample of text must have a context of at least one token");
  }
  return {};
}

Result<void> check_held_out(const Recipe& recipe) {
  const bool apart = !recipe.eval_path.empty();
  const bool by_fraction = recipe.eval_fraction > 0;
  if (recipe.format == Format::kFashionMnist && (apart || by_fraction)) {
    return out_of_range("fashion-mnist has held-out samples of its own");
  }
  if (apart && by_fraction) {
    return out_of_range("samples are held out either by a path or by a fraction");
  }
  return {};
}

Result<void> check_paths(const Recipe& recipe) {
  const auto missing = [](std::string_view what) {
    return fail(Errc::kSamplesMissing, fmt::format("{}", what));
  };
  if (recipe.format == Format::kFashionMnist) return {};
  if (recipe.path.empty()) return missing("no path to the samples was given");
  if (is_text(recipe.format)) return {};
  if (recipe.labels.empty()) {
    return missing(fmt::format("no labels were given for {}", recipe.path.string()));
  }
  if (!recipe.eval_path.empty() && recipe.eval_labels.empty()) {
    return missing(fmt::format("no labels were given for {}", recipe.eval_path.string()));
  }
  return {};
}

std::array<std::filesystem::path, 4> paths_of(const Recipe& recipe) {
  std::array<std::filesystem::path, 4> paths;
  if (recipe.format == Format::kFashionMnist) {
    const auto& folder = recipe.path.empty() ? kDebianFashionFolder : recipe.path;
    for (std::size_t i = 0; i < paths.size(); ++i) paths[i] = folder / kFashionNames[i];
    return paths;
  }
  paths[kTrainSamples] = recipe.path;
  paths[kEvalSamples] = recipe.eval_path;
  if (is_text(recipe.format)) return paths;
  paths[kTrainTargets] = recipe.labels;
  if (!recipe.eval_path.empty()) paths[kEvalTargets] = recipe.eval_labels;
  return paths;
}

}  // namespace

std::vector<FileStamp> FileSet::stamps() const {
  std::vector<FileStamp> stamps;
  for (const auto& file : files) {
    if (file) stamps.push_back(file->file.mapped.stamp());
  }
  return stamps;
}

Result<void> FileSet::unchanged() const {
  for (const auto& file : files) {
    if (!file) continue;
    if (auto same = file->file.unchanged(); !same) return same;
  }
  return {};
}

Result<FileSet> open_file_set(const Recipe& recipe, const std::filesystem::path& cache_folder) {
  auto good = check_numbers(recipe);
  if (good) good = check_held_out(recipe);
  if (good) good = check_paths(recipe);
  if (!good) return tl::unexpected(std::move(good.error()));
  FileSet set;
  const auto paths = paths_of(recipe);
  for (std::size_t place = 0; place < paths.size(); ++place) {
    if (paths[place].empty()) continue;
    auto file = open_array(recipe.format, paths[place], cache_folder);
    if (!file) return tl::unexpected(std::move(file.error()));
    set.files[place].emplace(std::move(*file));
  }
  return set;
}

}  // namespace wide::data
