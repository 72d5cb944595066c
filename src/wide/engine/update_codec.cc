#include "wide/engine/update_codec.h"

#include <algorithm>
#include <cstring>

#include "wide/base/check.h"
#include "wide/engine/float_kernels.h"

namespace wide::engine {

namespace {

using codec::Lossy;

std::vector<codec::Matrix> matrices_of(const Layout& layout) {
  std::vector<codec::Matrix> matrices;
  for (const auto& tensor : layout.tensors) {
    if (tensor.is_buffer) continue;
    const std::uint64_t rows = tensor.shape.empty() ? tensor.size : tensor.shape.front();
    matrices.push_back({tensor.offset, rows, rows == 0 ? 0 : tensor.size / rows});
  }
  return matrices;
}

}  // namespace

UpdateCodec::UpdateCodec(const Job& job, const Layout& layout)
    : plan_(job.codec.update),
      seed_(job.seed),
      parameter_count_(layout.parameter_count),
      buffer_count_(layout.buffer_count) {
  if (plan_ == LossyPlan::kPowersgd) low_rank_.emplace(matrices_of(layout));
}

std::uint64_t UpdateCodec::bytes(Lossy codec) const {
  const std::uint64_t buffer_bytes = buffer_count_ * sizeof(float);
  if (codec == Lossy::kPowersgd) {
    return low_rank_ ? low_rank_->coded_bytes() + buffer_bytes : 0;
  }
  return codec::coded_bytes(codec, parameter_count_) + buffer_bytes;
}

std::size_t UpdateCodec::memory_count() const {
  if (plan_ == LossyPlan::kNone) return 0;
  return parameter_count_ + (low_rank_ ? low_rank_->memory_count() : 0);
}

void UpdateCodec::begin(std::span<float> memory) const {
  WIDE_CHECK(memory.size() == memory_count());
  std::ranges::fill(memory, 0.0f);
  if (low_rank_) low_rank_->begin(seed_, memory.subspan(parameter_count_));
}

wire::Coded UpdateCodec::encode(Lossy codec, const Floats& change, std::span<float> memory,
                                BufferPool& buffers) const {
  WIDE_CHECK(memory.size() == memory_count());
  const auto lost = memory.first(parameter_count_);
  const std::span<const float> weights = change.values.first(parameter_count_);
  const std::span<const float> new_buffers = change.values.subspan(parameter_count_);

  const BufferPtr owner = buffers.take(bytes(codec));
  const auto coded = owner->first(bytes(codec));
  const auto code = coded.first(coded.size() - new_buffers.size_bytes());
  if (codec == Lossy::kPowersgd) {
    low_rank_->encode_with_feedback(weights, lost, memory.subspan(parameter_count_), code);
  } else {
    codec::encode_with_feedback(codec, weights, lost, code);
  }
  if (!new_buffers.empty()) {
    std::memcpy(coded.last(new_buffers.size_bytes()).data(), new_buffers.data(),
                new_buffers.size_bytes());
  }
  return {static_cast<std::uint8_t>(codec), owner, coded};
}

Result<Floats> UpdateCodec::decode(const wire::Coded& coded, BufferPool& buffers) const {
  const auto codec = static_cast<Lossy>(coded.codec);
  if (codec == Lossy::kNone) return wire::floats_of(coded);
  WIDE_CHECK(coded.bytes.size() == bytes(codec), "limits know how long a coded update is");
  Floats values = take_floats(buffers, parameter_count_ + buffer_count_);
  const auto weights = values.values.first(parameter_count_);
  const auto new_buffers = std::as_writable_bytes(values.values.subspan(parameter_count_));
  const auto code = coded.bytes.first(coded.bytes.size() - new_buffers.size());
  const auto done = codec == Lossy::kPowersgd ? low_rank_->decode(code, weights)
                                              : codec::decode(codec, code, weights);
  if (!done) return tl::unexpected(done.error());
  if (!new_buffers.empty()) {
    std::memcpy(new_buffers.data(), coded.bytes.last(new_buffers.size()).data(),
                new_buffers.size());
  }
  return values;
}

}  // namespace wide::engine
