#include <benchmark/benchmark.h>

#include <vector>

#include "wide/base/piece_digest.h"
#include "wide/base/sha256_lanes.h"

namespace wide {
namespace {

std::vector<std::byte> value_of(const benchmark::State& state) {
  return std::vector<std::byte>(static_cast<std::size_t>(state.range(0)), std::byte{42});
}

void whole(benchmark::State& state) {
  const auto value = value_of(state);
  for (auto _ : state) benchmark::DoNotOptimize(sha256(value));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * state.range(0));
}
BENCHMARK(whole)->Arg(1720)->Arg(40'000)->Arg(900'000);

void by_pieces(benchmark::State& state) {
  const auto value = value_of(state);
  for (auto _ : state) {
    Sha256 hash;
    benchmark::DoNotOptimize(update_by_pieces(hash, value).finish());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * state.range(0));
}
BENCHMARK(by_pieces)->Arg(1720)->Arg(40'000)->Arg(900'000);

void lanes_alone(benchmark::State& state) {
  const auto value = value_of(state);
  const std::size_t lanes = sha256_lanes();
  const std::vector<const std::byte*> firsts(lanes, value.data());
  std::vector<Digest> digests(lanes);
  for (auto _ : state) {
    sha256_in_lanes(firsts, value.size(), digests.data());
    benchmark::DoNotOptimize(digests.data());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * lanes * value.size()));
}
BENCHMARK(lanes_alone)->Arg(4096);

}  // namespace
}  // namespace wide
