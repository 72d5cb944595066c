// What a sample costs from mapped files, from fetched chunks and from a lease: the second and third
// must stay within a microsecond of the first.

#include <benchmark/benchmark.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "wide/base/check.h"
#include "wide/data/library.h"
#include "wide/data/loaded_sample.h"
#include "wide/data/recipe.h"
#include "wide/data/scratch_folder.h"
#include "wide/data/shipped.h"

namespace wide::data {
namespace {

constexpr std::uint32_t kSampleCount = 20'000;  // fashion-mnist's shape, 15 chunks

struct Sets {
  Sets() {
    recipe.format = Format::kIdx;
    recipe.path = folder / "samples";
    recipe.labels = folder / "labels";
    write_text(recipe.path, idx_text({kSampleCount, 28, 28}, std::string(kSampleCount * 784, 'x')));
    write_text(recipe.labels, idx_text({kSampleCount}, std::string(kSampleCount, '\1')));
    mapped = open_files(recipe, {}).value();
    manifest = std::make_shared<const Manifest>(mapped->library()->manifest());
    ship();
    carry();
  }
  void ship() {
    const auto shelf = std::make_shared<ChunkShelf>(
        manifest, std::make_shared<ChunkCache>(folder / "chunks", 1u << 30), ChunkShelf::Options{});
    std::vector<std::uint64_t> chunks(manifest->space.chunk_count);
    std::iota(chunks.begin(), chunks.end(), 0);
    for (const auto chunk : chunks) {
      WIDE_CHECK(shelf->put(chunk, nullptr, mapped->library()->chunk(chunk)).has_value());
    }
    chunk_hold = shelf->hold(chunks);
    shipped = make_shipped(recipe, shelf).value();
  }
  void carry() {
    std::vector<std::span<const std::byte>> runs;
    std::vector<std::uint64_t> indices(kSampleCount);
    std::iota(indices.begin(), indices.end(), 0);
    for (const auto index : indices) mapped->library()->add_train_record(index, runs);
    const auto bytes = kSampleCount * manifest->space.carried_bytes;
    const auto buffer = std::make_shared<Buffer>(bytes);
    auto* to = buffer->begin();
    for (const auto run : runs) {
      std::memcpy(to, run.data(), run.size());
      to += run.size();
    }
    auto made = make_carried(recipe, manifest).value();
    lease_hold = made->hold(false, indices, buffer, buffer->first(bytes)).value();
    carried = std::move(made);
  }

  ScratchFolder folder;
  Recipe recipe;
  std::shared_ptr<const Manifest> manifest;
  DatasetPtr mapped, shipped, carried;
  ChunkShelf::Hold chunk_hold;
  CarriedSamples::Hold lease_hold;
};

const Sets& sets() {
  static const Sets made;
  return made;
}

void load_scattered(benchmark::State& state, const DatasetPtr& set) {
  LoadedSample sample(set->space());
  std::uint64_t index = static_cast<std::uint64_t>(state.thread_index()) * 1000;
  for (auto _ : state) {
    index = (index + 7919) % kSampleCount;
    set->load_train(index, sample.room());
    benchmark::DoNotOptimize(sample.values.data());
  }
}

void mapped_files(benchmark::State& state) { load_scattered(state, sets().mapped); }
void fetched_chunks(benchmark::State& state) { load_scattered(state, sets().shipped); }
void carried_records(benchmark::State& state) { load_scattered(state, sets().carried); }

BENCHMARK(mapped_files)->ThreadRange(1, 2);
BENCHMARK(fetched_chunks)->ThreadRange(1, 2);
BENCHMARK(carried_records)->ThreadRange(1, 2);

}  // namespace
}  // namespace wide::data
