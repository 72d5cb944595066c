#include "wide/net/workshop.h"

#include <fmt/format.h>

#include <algorithm>

#include "wide/base/log.h"
#include "wide/net/open_samples.h"
#include "wide/net/steady.h"

namespace wide::net {

namespace {

Error differs(const Digest& found, const Digest& wanted) {
  return {Errc::kSamplesDiffer,
          fmt::format("the samples here hash to {}, the pool's to {}; use the same files "
                      "(--data DIR), or none and let the pool send them",
                      found.short_hex(), wanted.short_hex())};
}

// The samples in this machine's own files; null where it has none. What the owner named must be
// there and be right; what only happens to lie in the usual place need not.
data::DatasetPtr own_samples(const engine::Prepare& prepare, const NodeClientOptions& options) {
  const auto& samples = prepare.job.samples;
  const bool named = !options.samples_folder.empty() || options.sample_files;
  const bool usual = samples.kind == engine::SampleKind::kFashionMnist;
  const bool made = samples.kind == engine::SampleKind::kSynthetic;
  if (samples.ship == engine::Ship::kAlways && !made) return nullptr;
  if (!named && !usual && !made) return nullptr;
  const SampleFiles files = options.sample_files ? *options.sample_files
                            : named              ? files_in(options.samples_folder, prepare.job)
                                                 : SampleFiles{};
  auto opened = open_samples(prepare.job, files, options.cache_folder);
  if (opened && (*opened)->space().sha256 == prepare.samples_sha256) return *opened;
  Error error =
      opened ? differs((*opened)->space().sha256, prepare.samples_sha256) : opened.error();
  if (named || made || samples.ship == engine::Ship::kLocal) throw Failure(std::move(error));
  log::detail("own samples not used: {}", describe(error));
  return nullptr;
}

engine::Weights genesis_weights(const engine::Genesis& genesis, BufferPool& buffers) {
  auto version = std::make_shared<engine::WeightsVersion>();
  version->values = take_floats(buffers, genesis.values.size());
  std::ranges::copy(genesis.values, version->values.values.begin());
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
                const Tools& tools, Supply& supply, BufferPool& buffers) {
  Equipment equipment;
  Workshop& workshop = equipment.workshop;
  workshop.job = prepare.job;
  workshop.samples = own_samples(prepare, options);
  if (!workshop.samples) {
    workshop.samples = supply.open(prepare.job, recipe_of(prepare.job, {}), prepare.samples_sha256);
    workshop.first_unit = supply.hold_first_unit();
  }
  value_or_throw(engine::validate_fit(prepare.job, workshop.samples->space()));
  workshop.genesis = tools.make_genesis(prepare.job, workshop.samples->space());
  workshop.factory = tools.make_factory(workshop.job, workshop.genesis.layout, workshop.samples);
  workshop.libraries = workshop.factory->libraries();
  for (std::uint16_t slot = 0; slot < options.node.slots; ++slot) {
    equipment.computers.push_back(workshop.factory->make_computer());
  }
  auto& first = *equipment.computers.front();
  const auto genesis = genesis_weights(workshop.genesis, buffers);
  workshop.class_hash =
      engine::numerics_class(first, workshop.libraries, workshop.genesis.layout, genesis, buffers);
  const auto scratch = take_floats(buffers, workshop.genesis.layout.value_count());
  workshop.unit_span = time_unit(first, genesis, scratch.values);
  return equipment;
}

SlotSpeed measure_slot(engine::UnitComputer& computer, const Workshop& workshop,
                       const engine::Weights& weights, Duration span, BufferPool& buffers) {
  const auto scratch = take_floats(buffers, workshop.genesis.layout.value_count());
  SlotSpeed speed;
  const Time start = steady_now();
  while (speed.span < span) {
    // Step after step, so that the samples are as cold as they are in training; unit 0 over and
    // over where only its samples are sure to be here.
    const std::uint32_t units_per_step = workshop.job.train.units_per_step;
    const auto unit = static_cast<Unit>(speed.units % units_per_step);
    const Step step = weights->step + speed.units / units_per_step;
    const bool any = workshop.first_unit == nullptr;
    computer.gradient(weights, any ? step : 0, any ? unit : 0, scratch.values);
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
