#include "wide/engine/block_codec.h"

#include <cstring>

#include "wide/base/check.h"

namespace wide::engine {

namespace {

std::span<float> gradient_of(const Layout& layout, std::span<float> value) {
  return value.first(layout.parameter_count);
}

std::span<std::byte> buffers_of(const Layout& layout, std::span<float> value) {
  return std::as_writable_bytes(value.subspan(layout.parameter_count));
}

Result<void> decode_block(codec::Lossy codec, const Layout& layout,
                          std::span<const std::byte> coded, std::span<float> value) {
  const auto buffers = buffers_of(layout, value);
  const auto behind = coded.last(buffers.size());
  if (!buffers.empty()) std::memcpy(buffers.data(), behind.data(), behind.size());
  return codec::decode(codec, coded.first(coded.size() - buffers.size()),
                       gradient_of(layout, value));
}

}  // namespace

std::uint64_t block_bytes(codec::Lossy codec, const Layout& layout) {
  if (codec == codec::Lossy::kPowersgd) return 0;
  return codec::coded_bytes(codec, layout.parameter_count) + layout.buffer_count * sizeof(float);
}

void code_block(codec::Lossy codec, const Layout& layout, const codec::Rounding& rounding,
                std::span<float> value, std::span<std::byte> coded) {
  const auto buffers = buffers_of(layout, value);
  const auto code = coded.first(coded.size() - buffers.size());
  codec::encode_unbiased(codec, gradient_of(layout, value), rounding, code);
  if (!buffers.empty())
    std::memcpy(coded.last(buffers.size()).data(), buffers.data(), buffers.size());
  WIDE_CHECK(codec::decode(codec, code, gradient_of(layout, value)), "what was just coded decodes");
}

Result<Floats> sum_of_blocks(codec::Lossy codec, const Layout& layout,
                             std::span<const std::byte> coded, Block count, BufferPool& buffers) {
  const std::uint64_t bytes = block_bytes(codec, layout);
  WIDE_CHECK(coded.size() == bytes * count, "limits know how long coded blocks are");
  SumTree tree(count, buffers);
  for (Block block = 0; block < count; ++block) {
    Floats value = take_floats(buffers, layout.value_count());
    const auto done =
        decode_block(codec, layout, coded.subspan(block * bytes, bytes), value.values);
    if (!done) return tl::unexpected(done.error());
    tree.add({block, 1}, {std::move(value), 0});
  }
  return tree.take_root().sum;
}

}  // namespace wide::engine
