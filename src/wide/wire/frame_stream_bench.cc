// What a message costs from record to record, without a network: encode, gather, copy, read.

#include <benchmark/benchmark.h>

#include <algorithm>

#include "wide/base/check.h"
#include "wide/wire/frame_reader.h"
#include "wide/wire/frame_writer.h"

namespace wide::wire {
namespace {

Limits limits_for(std::uint64_t value_count) {
  Limits limits;
  limits.value_count = value_count;
  limits.block_count_max = 4;
  limits.stranger = false;
  return limits;
}

LeaseResult result_of(BufferPool& pool, std::size_t value_count) {
  LeaseResult result;
  result.rows.resize(1);
  const Floats sum = take_floats(pool, value_count);
  std::ranges::fill(sum.values, 1.0f);
  result.sum = as_they_are(sum);
  return result;
}

// Stands for the socket: moves all that waits into the reader, as reads would.
std::size_t carry(FrameWriter& writer, FrameReader& reader, Segments& segments) {
  std::size_t message_count = 0;
  writer.gather(segments);
  for (auto segment : segments) {
    while (!segment.empty()) {
      const auto space = reader.space();
      const auto part = segment.first(std::min(space.size(), segment.size()));
      std::ranges::copy(part, space.begin());
      reader.filled(part.size());
      segment = segment.subspan(part.size());
      while (reader.next()->has_value()) ++message_count;
    }
  }
  std::size_t bytes = 0;
  for (const auto segment : segments) bytes += segment.size();
  writer.sent(bytes);
  return message_count;
}

void send_result(benchmark::State& state) {
  const auto value_count = static_cast<std::size_t>(state.range(0));
  BufferPool pool;
  FrameWriter writer;
  FrameReader reader(pool, limits_for(value_count));
  Segments segments;
  const LeaseResult result = result_of(pool, value_count);
  for (auto _ : state) {
    writer.push(std::make_shared<const Packet>(encode(result)));
    std::size_t message_count = 0;
    while (!writer.empty()) message_count += carry(writer, reader, segments);
    WIDE_CHECK(message_count == 1);
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * 4);
}
BENCHMARK(send_result)->Arg(430)->Arg(100000)->Arg(4000000);

}  // namespace
}  // namespace wide::wire
