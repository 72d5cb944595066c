#include "wide/train/torch_factory.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "wide/train/compute_facts.h"
#include "wide/train/compute_thread.h"
#include "wide/train/script_computer.h"
#include "wide/train/torch_computer.h"

namespace wide::train {

namespace {

class TorchFactory final : public engine::ComputerFactory {
 public:
  TorchFactory(const engine::Job& job, const engine::Layout& layout, data::DatasetPtr samples)
      : job_(job), layout_(layout), samples_(std::move(samples)) {}

  std::unique_ptr<engine::UnitComputer> make_computer() override {
    return std::make_unique<TorchComputer>(job_, layout_, samples_);
  }
  std::string libraries() const override { return describe(compute_facts()); }

 private:
  engine::Job job_;
  engine::Layout layout_;
  data::DatasetPtr samples_;
};

bool is_same(const engine::Layout& left, const engine::Layout& right) {
  return std::ranges::equal(left.tensors, right.tensors, [](const auto& one, const auto& other) {
    return one.name == other.name && one.shape == other.shape && one.offset == other.offset &&
           one.is_buffer == other.is_buffer;
  });
}

// Every computer reads the file anew and has a module of its own.
class ScriptFactory final : public engine::ComputerFactory {
 public:
  ScriptFactory(const engine::Job& job, const engine::Layout& layout, data::DatasetPtr samples,
                std::filesystem::path file)
      : job_(job), layout_(layout), samples_(std::move(samples)), file_(std::move(file)) {}

  std::unique_ptr<engine::UnitComputer> make_computer() override {
    if (job_.model.sha256.is_zero()) {
      throw Failure(Errc::kModelDiffers, "the job does not name the hash of its model's file");
    }
    auto loaded = value_or_throw(load_script(file_, job_.model.sha256));
    if (!is_same(loaded.module.layout(), layout_)) {
      throw Failure(
          Errc::kModelUnfit,
          file_.string() + ": its tensors read differently here than where the job began");
    }
    auto place = loaded.module.draws_numbers() ? only_place() : nullptr;
    return std::make_unique<ScriptComputer>(job_, samples_, std::move(loaded.module),
                                            std::move(place));
  }
  std::string libraries() const override { return describe(compute_facts()); }

 private:
  std::shared_ptr<const void> only_place() {
    const std::scoped_lock lock(mutex_);
    if (!taken_.expired()) {
      throw Failure(Errc::kModelUnfit,
                    fmt::format("{} draws random numbers: it may have one slot per process; start "
                                "more nodes instead",
                                file_.string()));
    }
    auto place = std::make_shared<const int>(0);
    taken_ = place;
    return place;
  }

  engine::Job job_;
  engine::Layout layout_;
  data::DatasetPtr samples_;
  std::filesystem::path file_;
  std::mutex mutex_;
  std::weak_ptr<const void> taken_;
};

}  // namespace

std::unique_ptr<engine::ComputerFactory> make_torch_factory(
    const engine::Job& job, const engine::Layout& layout, data::DatasetPtr samples,
    const std::filesystem::path& model_file) {
  prepare_compute_thread();
  if (job.model.kind != engine::ModelKind::kTorchScript) {
    return std::make_unique<TorchFactory>(job, layout, std::move(samples));
  }
  return std::make_unique<ScriptFactory>(job, layout, std::move(samples), model_file);
}

}  // namespace wide::train
