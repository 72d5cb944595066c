#include "wide/net/open_samples.h"

namespace wide::net {

Result<data::DatasetPtr> open_samples(const engine::Job& job, const std::filesystem::path& folder,
                                      const std::filesystem::path& cache_folder) {
  const auto& samples = job.samples;
  switch (samples.kind) {
    case engine::SampleKind::kSynthetic:
      return data::make_synthetic(job.seed, samples.count, samples.features, samples.classes);
    case engine::SampleKind::kFashionMnist:
      return data::open_fashion_mnist(folder.empty() ? std::filesystem::path(samples.path) : folder,
                                      cache_folder);
  }
  return fail(Errc::kBug, "a kind of samples that nobody opens");
}

}  // namespace wide::net
