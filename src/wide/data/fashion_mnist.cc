// Fashion-MNIST (Xiao et al., 2017): grey images of clothes in ten classes, in four idx files.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "wide/base/check.h"
#include "wide/data/dataset.h"
#include "wide/data/idx_folder.h"
#include "wide/data/remembered_digest.h"
#include "wide/data/space_digest.h"

namespace wide::data {
namespace {

constexpr std::string_view kDebianFolder = "/usr/share/datasets/fashion-mnist";
constexpr std::array<std::string_view, 4> kNames = {
    "train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte"};
constexpr std::uint32_t kClassCount = 10;

// Mean and standard deviation of the training images' pixels, as everyone rounds them.
constexpr double kPixelMean = 0.2860;
constexpr double kPixelDeviation = 0.3530;

// A pixel has 256 values, so each is normalised once, in double, and rounded to float.
constexpr std::array<float, 256> kNormalised = [] {
  std::array<float, 256> table{};
  for (std::size_t pixel = 0; pixel < table.size(); ++pixel) {
    const double brightness = static_cast<double>(pixel) / 255.0;
    table[pixel] = static_cast<float>((brightness - kPixelMean) / kPixelDeviation);
  }
  return table;
}();

tl::unexpected<Error> refuse(const MappedIdx& idx, std::string_view why) {
  return fail(Errc::kSamplesCorrupt, fmt::format("{}: {}", idx.file.stamp().path.string(), why));
}

Result<void> check_images(const MappedIdx& images) {
  if (images.idx.extents.size() != 3) return refuse(images, "holds no images (rank is not 3)");
  if (images.idx.values.empty()) return refuse(images, "holds no images");
  return {};
}

Result<void> check_labels(const MappedIdx& labels, const MappedIdx& images) {
  if (labels.idx.extents.size() != 1) return refuse(labels, "holds no labels (rank is not 1)");
  if (labels.idx.extents[0] != images.idx.extents[0]) {
    return refuse(labels, fmt::format("{} labels for {} images", labels.idx.extents[0],
                                      images.idx.extents[0]));
  }
  const auto is_strange = [](std::byte label) {
    return std::to_integer<std::uint32_t>(label) >= kClassCount;
  };
  const auto strange = std::ranges::find_if(labels.idx.values, is_strange);
  if (strange == labels.idx.values.end()) return {};
  return refuse(labels,
                fmt::format("label {} of sample {} is not below {}", std::to_integer<int>(*strange),
                            strange - labels.idx.values.begin(), kClassCount));
}

// `files` in the order of kNames.
Result<void> check_files(const std::vector<MappedIdx>& files) {
  for (const std::size_t half : {0, 2}) {
    if (auto good = check_images(files[half]); !good) return good;
    if (auto good = check_labels(files[half + 1], files[half]); !good) return good;
  }
  const auto& train = files[0].idx.extents;
  const auto& held_out = files[2].idx.extents;
  if (train[1] == held_out[1] && train[2] == held_out[2]) return {};
  return refuse(files[2], fmt::format("images of {} × {}, those to train on have {} × {}",
                                      held_out[1], held_out[2], train[1], train[2]));
}

Digest hash_files(const std::vector<MappedIdx>& files, const SampleSpace& space) {
  Sha256 hash;
  hash_space(hash, space);
  for (const auto& file : files) hash.update(file.file.bytes());
  return hash.finish();
}

SampleSpace measure(const std::vector<MappedIdx>& files,
                    const std::filesystem::path& cache_folder) {
  const auto& extents = files[0].idx.extents;
  SampleSpace space{.train_count = extents[0],
                    .eval_count = files[2].idx.extents[0],
                    .sample_shape = {1, extents[1], extents[2]},
                    .class_count = kClassCount,
                    .sha256 = {}};
  std::vector<FileStamp> stamps;
  for (const auto& file : files) stamps.push_back(file.file.stamp());
  space.sha256 = remembered_digest(cache_folder, "fashion-mnist 1", stamps,
                                   [&] { return hash_files(files, space); });
  return space;
}

class FashionMnist final : public Dataset {
 public:
  FashionMnist(std::vector<MappedIdx> files, SampleSpace space)
      : files_(std::move(files)), space_(std::move(space)), sample_size_(space_.sample_size()) {}

  const SampleSpace& space() const override { return space_; }
  std::int64_t load_train(std::uint64_t index, std::span<float> out) const override {
    return load(files_[0].idx, files_[1].idx, index, out);
  }
  std::int64_t load_eval(std::uint64_t index, std::span<float> out) const override {
    return load(files_[2].idx, files_[3].idx, index, out);
  }

 private:
  std::int64_t load(const IdxFile& images, const IdxFile& labels, std::uint64_t index,
                    std::span<float> out) const {
    WIDE_CHECK(index < labels.values.size(), "no such sample");
    WIDE_CHECK(out.size() == sample_size_, "room for exactly one sample");
    const auto pixels = images.values.subspan(index * sample_size_, sample_size_);
    std::ranges::transform(pixels, out.begin(), [](std::byte pixel) {
      return kNormalised[std::to_integer<std::size_t>(pixel)];
    });
    return std::to_integer<std::int64_t>(labels.values[index]);
  }

  std::vector<MappedIdx> files_;
  SampleSpace space_;
  std::uint64_t sample_size_;
};

}  // namespace

Result<DatasetPtr> open_fashion_mnist(const std::filesystem::path& folder,
                                      const std::filesystem::path& cache_folder) {
  auto files = open_idx_files(folder.empty() ? kDebianFolder : folder, kNames, cache_folder,
                              "fashion-mnist");
  if (!files) return tl::unexpected(std::move(files.error()));
  if (auto good = check_files(*files); !good) return tl::unexpected(std::move(good.error()));

  auto space = measure(*files, cache_folder);
  return std::make_shared<const FashionMnist>(std::move(*files), std::move(space));
}

}  // namespace wide::data
