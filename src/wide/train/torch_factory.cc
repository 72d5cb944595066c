#include "wide/train/torch_factory.h"

#include <utility>

#include "wide/train/compute_facts.h"
#include "wide/train/compute_thread.h"
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

}  // namespace

std::unique_ptr<engine::ComputerFactory> make_torch_factory(const engine::Job& job,
                                                            const engine::Layout& layout,
                                                            data::DatasetPtr samples) {
  prepare_compute_thread();
  return std::make_unique<TorchFactory>(job, layout, std::move(samples));
}

}  // namespace wide::train
