// Each codec beside memcpy of the same floats: bytes_per_second counts floats, 4 bytes each.
//
//   lossy_bench --benchmark_enable_random_interleaving=true --benchmark_repetitions=7

#include <benchmark/benchmark.h>

#include <cstring>

#include "wide/codec/example_floats.h"
#include "wide/codec/lossy.h"

namespace wide::codec {
namespace {

constexpr std::int64_t kInCache = 1 << 18, kOutOfCache = 1 << 24;  // floats: 1 MB, 64 MB

void count_floats(benchmark::State& state) {
  state.SetBytesProcessed(state.iterations() * state.range(0) * 4);
}

// A few thousand different values, over and over: quick to make.
std::vector<float> many_floats(benchmark::State& state) {
  const auto some = example::floats(example::Kind::kNormal, 5003);
  std::vector<float> values(static_cast<std::size_t>(state.range(0)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = some[i % some.size()];
  return values;
}

void copy(benchmark::State& state) {
  const auto from = many_floats(state);
  std::vector<float> to(from.size());
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), from.size() * sizeof(float));
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  }
  count_floats(state);
}

void unbiased(benchmark::State& state, Lossy codec) {
  const auto values = many_floats(state);
  std::vector<std::byte> coded(coded_bytes(codec, values.size()));
  std::uint64_t step = 0;
  for (auto _ : state) {
    encode_unbiased(codec, values, {1, ++step, 0}, coded);
    benchmark::ClobberMemory();
  }
  count_floats(state);
}

void feedback(benchmark::State& state, Lossy codec) {
  const auto values = many_floats(state);
  std::vector<float> residual(values.size());
  std::vector<std::byte> coded(coded_bytes(codec, values.size()));
  for (auto _ : state) {
    encode_with_feedback(codec, values, residual, coded);
    benchmark::ClobberMemory();
  }
  count_floats(state);
}

void decoding(benchmark::State& state, Lossy codec, bool add) {
  auto values = many_floats(state);
  std::vector<std::byte> coded(coded_bytes(codec, values.size()));
  encode_unbiased(codec, values, {}, coded);
  for (auto _ : state) {
    const auto done = add ? decode_add(codec, coded, values) : decode(codec, coded, values);
    if (!done) state.SkipWithError("refused its own code");
    benchmark::ClobberMemory();
  }
  count_floats(state);
}

void add_codec(Lossy codec) {
  const std::string name(lossy_name(codec));
  const auto sizes = [](auto* bench) { bench->Arg(kInCache)->Arg(kOutOfCache); };
  sizes(benchmark::RegisterBenchmark((name + "/unbiased").c_str(), unbiased, codec));
  sizes(benchmark::RegisterBenchmark((name + "/feedback").c_str(), feedback, codec));
  sizes(benchmark::RegisterBenchmark((name + "/decode").c_str(), decoding, codec, false));
  sizes(benchmark::RegisterBenchmark((name + "/decode_add").c_str(), decoding, codec, true));
}

// Before main: benchmark_main has the rest.
const bool kRegistered = [] {
  benchmark::RegisterBenchmark("memcpy", copy)->Arg(kInCache)->Arg(kOutOfCache);
  for (const Lossy codec : {Lossy::kNone, Lossy::kFp16, Lossy::kBf16, Lossy::kInt8, Lossy::kInt4,
                            Lossy::kSign, Lossy::kTopk}) {
    add_codec(codec);
  }
  return true;
}();

}  // namespace
}  // namespace wide::codec
