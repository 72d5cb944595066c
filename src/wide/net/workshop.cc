#include "wide/net/workshop.h"

#include <fmt/format.h>

#include "wide/net/open_samples.h"
#include "wide/net/steady.h"

namespace wide::net {

namespace {

data::DatasetPtr open_checked(const engine::Prepare& prepare, const NodeClientOptions& options) {
  auto samples =
      value_or_throw(open_samples(prepare.job, options.samples_folder, options.cache_folder));
  const Digest& found = samples->space().sha256;
  if (found != prepare.samples_sha256) {
    throw Failure(Errc::kSamplesDiffer,
                  fmt::format("the samples here hash to {}, the pool's to {}; use the same files "
                              "(--data DIR)",
                              found.short_hex(), prepare.samples_sha256.short_hex()));
  }
  value_or_throw(engine::validate_fit(prepare.job, samples->space()));
  return samples;
}

engine::Weights genesis_weights(const engine::Job& job, const engine::Layout& layout,
                                BufferPool& buffers) {
  auto version = std::make_shared<engine::WeightsVersion>();
  version->values = take_floats(buffers, layout.value_count());
  engine::fill_genesis(job.model, layout, job.seed, version->values.values);
  return version;
}

Duration time_unit(engine::UnitComputer& computer, const engine::Weights& weights,
                   std::span<float> scratch) {
  const Time start = steady_now();
  computer.gradient(weights, 0, 0, scratch);
  return steady_now() - start;
}

}  // namespace

Equipment equip(const engine::Prepare& prepare, const NodeClientOptions& options,
                const FactoryMaker& make_factory, BufferPool& buffers) {
  Equipment equipment;
  Workshop& workshop = equipment.workshop;
  workshop.job = prepare.job;
  workshop.samples = open_checked(prepare, options);
  workshop.layout = engine::make_layout(prepare.job.model, workshop.samples->space());
  workshop.factory = make_factory(workshop.job, workshop.layout, workshop.samples);
  workshop.libraries = workshop.factory->libraries();
  for (std::uint16_t slot = 0; slot < options.node.slots; ++slot) {
    equipment.computers.push_back(workshop.factory->make_computer());
  }
  auto& first = *equipment.computers.front();
  const auto genesis = genesis_weights(workshop.job, workshop.layout, buffers);
  workshop.class_hash =
      engine::numerics_class(first, workshop.libraries, workshop.layout, genesis, buffers);
  const auto scratch = take_floats(buffers, workshop.layout.value_count());
  workshop.unit_span = time_unit(first, genesis, scratch.values);
  return equipment;
}

SlotSpeed measure_slot(engine::UnitComputer& computer, const Workshop& workshop,
                       const engine::Weights& weights, Duration span, BufferPool& buffers) {
  const auto scratch = take_floats(buffers, workshop.layout.value_count());
  SlotSpeed speed;
  const Time start = steady_now();
  while (speed.span < span) {
    // Step after step, so that the samples are as cold as they are in training.
    const std::uint32_t units_per_step = workshop.job.train.units_per_step;
    const auto unit = static_cast<Unit>(speed.units % units_per_step);
    const Step step = weights->step + speed.units / units_per_step;
    computer.gradient(weights, step, unit, scratch.values);
    ++speed.units;
    speed.span = steady_now() - start;
  }
  return speed;
}

Error compute_error(const std::exception& failed) {
  if (const auto* failure = dynamic_cast<const Failure*>(&failed)) return failure->error();
  return {Errc::kComputeFailed, failed.what()};
}

}  // namespace wide::net
