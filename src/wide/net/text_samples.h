#pragma once
// For tests: a job on a text that lies in a file of its own, gone at the end.

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "wide/base/check.h"
#include "wide/engine/job.h"
#include "wide/net/open_samples.h"

namespace wide::net {

class TextSamples final {
 public:
  explicit TextSamples(std::size_t bytes, std::string name = "text") {
    auto folder = (std::filesystem::temp_directory_path() / "wide-test-XXXXXX").string();
    WIDE_CHECK(::mkdtemp(folder.data()) != nullptr);
    folder_ = folder;
    job_.name = std::move(name);
    job_.model.kind = engine::ModelKind::kGpt;
    job_.model.layer_count = 1;
    job_.model.heads = 1;
    job_.model.width = 4;
    job_.model.context = 64;
    job_.samples.kind = engine::SampleKind::kText;
    job_.samples.path = file().string();
    job_.eval.fraction = 0.01;
    job_.eval.batch = 16;
    job_.train.batch = 4;
    job_.train.units_per_step = 5;
    job_.train.steps = 30;
    std::ofstream out(file(), std::ios::binary);
    std::uint32_t state = 1;
    for (std::size_t i = 0; i < bytes; ++i) {
      state = state * 1664525u + 1013904223u;
      out.put(static_cast<char>(state >> 24));
    }
  }
  ~TextSamples() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  TextSamples(const TextSamples&) = delete;
  TextSamples& operator=(const TextSamples&) = delete;

  engine::Job& job() { return job_; }
  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path file() const { return folder_ / "text.txt"; }
  data::DatasetPtr open() const {
    return value_or_throw(open_samples(job_, files_as_named(job_), {}));
  }

 private:
  std::filesystem::path folder_;
  engine::Job job_;
};

}  // namespace wide::net
