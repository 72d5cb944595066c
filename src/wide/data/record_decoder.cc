#include "wide/data/record_decoder.h"

#include <fmt/format.h>

#include <cstring>

#include "wide/base/check.h"
#include "wide/base/error.h"
#include "wide/data/float16.h"

namespace wide::data {
namespace {

float normalise(double value, Normalising by) {
  return static_cast<float>((value - by.mean) / by.deviation);
}

// Bytes and halves have so few values that each is normalised once.
std::vector<float> table_of(ElementType type, Normalising by) {
  std::vector<float> table;
  if (type == ElementType::kU8) {
    for (unsigned value = 0; value < 256; ++value) table.push_back(normalise(value / 255.0, by));
  } else if (type == ElementType::kF16) {
    table.reserve(65536);
    for (unsigned half = 0; half < 65536; ++half) {
      table.push_back(normalise(widen_half(static_cast<std::uint16_t>(half)), by));
    }
  }
  return table;
}

// Records lie at any address, so elements are copied out one by one; compilers see through it.
template <class Element, class Out, class Convert>
void convert_each(std::span<const std::byte> bytes, std::span<Out> out, Convert convert) {
  const auto* from = bytes.data();
  for (auto& value : out) {
    Element element;
    std::memcpy(&element, from, sizeof(Element));
    from += sizeof(Element);
    value = convert(element);
  }
}

template <class Element>
void copy_whole(std::span<const std::byte> bytes, std::span<std::int64_t> out) {
  convert_each<Element>(bytes, out, [](Element value) { return std::int64_t{value}; });
}

void copy_whole_numbers(ElementType type, std::span<const std::byte> bytes,
                        std::span<std::int64_t> out) {
  switch (type) {
    case ElementType::kU8:
      return copy_whole<std::uint8_t>(bytes, out);
    case ElementType::kU16:
      return copy_whole<std::uint16_t>(bytes, out);
    case ElementType::kI32:
      return copy_whole<std::int32_t>(bytes, out);
    case ElementType::kI64:
      return copy_whole<std::int64_t>(bytes, out);
    case ElementType::kF16:
    case ElementType::kF32:
      break;
  }
  WIDE_CHECK(false, "labels are whole numbers");
}

// Whoever hashed the files has looked at every label, but a chunk only proves that it is what the
// pool has: what comes from a pool is looked at again.
void check_below(std::span<const std::int64_t> numbers, std::uint32_t class_count, Errc code) {
  for (const auto number : numbers) {
    if (number >= 0 && number < std::int64_t{class_count}) continue;
    throw Failure(code, fmt::format("{} is not below {}", number, class_count));
  }
}

}  // namespace

RecordDecoder::RecordDecoder(const Manifest& manifest, Normalising normalising)
    : sample_type_(manifest.parts[kTrainSamples].type),
      target_type_(manifest.parts[kTrainTargets].type),
      sample_size_(manifest.space.sample_size()),
      target_count_(manifest.space.target_count),
      tokens_(manifest.space.tokens),
      class_count_(manifest.space.class_count),
      normalising_(normalising),
      normalised_(tokens_ ? std::vector<float>() : table_of(sample_type_, normalising)) {}

void RecordDecoder::decode(std::span<const std::byte> sample, std::span<const std::byte> targets,
                           const SampleRoom& room) const {
  if (tokens_) return decode_tokens(sample, room);
  decode_values(sample, room.values);
  decode_targets(targets, room);
}

void RecordDecoder::decode_values(std::span<const std::byte> sample,
                                  std::span<float> values) const {
  WIDE_CHECK(values.size() == sample_size_, "room for exactly one sample");
  WIDE_CHECK(sample.size() == sample_size_ * element_bytes(sample_type_), "a whole record");
  const auto by = normalising_;
  const auto in_table = [table = normalised_.data()](auto value) { return table[value]; };
  const auto by_rule = [by](auto value) { return normalise(static_cast<double>(value), by); };
  switch (sample_type_) {
    case ElementType::kU8:
      return convert_each<std::uint8_t>(sample, values, in_table);
    case ElementType::kF16:
      return convert_each<std::uint16_t>(sample, values, in_table);
    case ElementType::kI32:
      return convert_each<std::int32_t>(sample, values, by_rule);
    case ElementType::kI64:
      return convert_each<std::int64_t>(sample, values, by_rule);
    case ElementType::kF32:
      return convert_each<float>(sample, values, by_rule);
    case ElementType::kU16:
      break;
  }
  WIDE_CHECK(false, "only tokens are 16-bit numbers");
}

void RecordDecoder::decode_tokens(std::span<const std::byte> sample, const SampleRoom& room) const {
  const auto width = element_bytes(sample_type_);
  WIDE_CHECK(room.tokens.size() == sample_size_ && room.labels.size() == sample_size_,
             "room for exactly one sample");
  WIDE_CHECK(sample.size() == (sample_size_ + 1) * width, "a whole record");
  copy_whole_numbers(sample_type_, sample, room.tokens);
  copy_whole_numbers(sample_type_, sample.subspan(width), room.labels);
  check_below(room.tokens.first(1), class_count_, Errc::kTokenOutOfRange);
  check_below(room.labels, class_count_, Errc::kTokenOutOfRange);
}

void RecordDecoder::decode_targets(std::span<const std::byte> targets,
                                   const SampleRoom& room) const {
  WIDE_CHECK(targets.size() == std::uint64_t{target_count_} * element_bytes(target_type_),
             "a whole record");
  if (class_count_ > 0) {
    WIDE_CHECK(room.labels.size() == target_count_, "room for exactly one sample");
    copy_whole_numbers(target_type_, targets, room.labels);
    return check_below(room.labels, class_count_, Errc::kLabelOutOfRange);
  }
  WIDE_CHECK(room.targets.size() == target_count_, "room for exactly one sample");
  if (target_type_ == ElementType::kF32) {
    std::memcpy(room.targets.data(), targets.data(), targets.size());
  } else {
    convert_each<std::uint16_t>(targets, room.targets, widen_half);
  }
}

}  // namespace wide::data
