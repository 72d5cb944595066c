// Each codec on blocks of gradients. After every turn of it the same bytes are copied, so that both
// are met by the same noise, and of both the median turn counts:
//
//   bytes/s    raw bytes
//   of_memcpy  that speed ÷ memcpy's
//   ratio      coded ÷ raw; 1 where it does not get smaller
//   of_order0  coded ÷ order0_bytes

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>

#include "wide/codec/example_blocks.h"
#include "wide/codec/lossless.h"

namespace wide::codec {
namespace {

using Block = std::vector<std::byte>;

constexpr Lossless kCodecs[] = {Lossless::kLz4, Lossless::kZstd, Lossless::kZlib, Lossless::kZlib9,
                                Lossless::kPlanes};
constexpr std::pair<Example, const char*> kGradients[] = {{Example::kNormal, "normal"},
                                                          {Example::kSparse70, "sparse70"},
                                                          {Example::kLayers, "layers"},
                                                          {Example::kDeadFeatures, "dead"}};

// Room for codes that do not get smaller: their time counts as well.
std::size_t room_for(std::size_t raw_bytes) { return raw_bytes + raw_bytes / 8 + 600; }

using Clock = std::chrono::steady_clock;

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// Times `work`, which turns `raw` into a code of so many bytes, or back.
template <class Work>
void measure(benchmark::State& state, const Block& raw, const Work& work) {
  Block copy(raw.size());
  std::vector<double> working, copying;  // seconds
  std::size_t coded_bytes = 0;
  for (auto _ : state) {
    const auto began = Clock::now();
    coded_bytes = work();
    benchmark::ClobberMemory();
    const auto done = Clock::now();
    std::memcpy(copy.data(), raw.data(), raw.size());
    benchmark::ClobberMemory();
    copying.push_back(std::chrono::duration<double>(Clock::now() - done).count());
    working.push_back(std::chrono::duration<double>(done - began).count());
    state.SetIterationTime(working.back());
  }
  std::vector<float> values(raw.size() / 4);
  std::memcpy(values.data(), raw.data(), raw.size());
  const auto raw_bytes = static_cast<double>(raw.size());
  const auto coded = static_cast<double>(coded_bytes);
  state.counters["bytes/s"] = raw_bytes / median(working);
  state.counters["of_memcpy"] = median(copying) / median(working);
  state.counters["ratio"] = std::min(coded / raw_bytes, 1.0);
  state.counters["of_order0"] = coded / order0_bytes(values);
}

void encode(benchmark::State& state, Lossless codec, Example example) {
  LosslessCoder coder;
  const Block raw = example_block(example, static_cast<std::size_t>(state.range(0)));
  Block coded(room_for(raw.size()));
  measure(state, raw, [&] { return coder.encode(codec, raw, coded); });
}

void decode(benchmark::State& state, Lossless codec, Example example) {
  LosslessCoder coder;
  const Block raw = example_block(example, static_cast<std::size_t>(state.range(0)));
  Block coded(room_for(raw.size())), back(raw.size());
  coded.resize(coder.encode(codec, raw, coded));
  measure(state, raw, [&] {
    if (!coder.decode(codec, coded, back)) state.SkipWithError("not decoded");
    return coded.size();
  });
}

const bool kRegistered = [] {
  for (const auto& [example, name] : kGradients) {
    for (const auto codec : kCodecs) {
      const std::string what = std::string(lossless_name(codec)) + "/" + name;
      for (const std::int64_t bytes : {std::int64_t{kBlockBytesMax}, std::int64_t{16 << 10}}) {
        for (const bool encodes : {true, false}) {
          const std::string name_of_it = (encodes ? "encode/" : "decode/") + what;
          benchmark::RegisterBenchmark(name_of_it.c_str(), encodes ? encode : decode, codec,
                                       example)
              ->Arg(bytes)
              ->UseManualTime();
        }
      }
    }
  }
  return true;
}();

}  // namespace
}  // namespace wide::codec
