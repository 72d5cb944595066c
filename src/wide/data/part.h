#pragma once
// A part is an array of records of one size: the samples to train on, their labels, the held-out
// samples, theirs. Every dataset that can travel is up to four parts, cut into chunks of whole
// records, about kChunkBytes each.
//
//   record   [ element × record_elements ]     images 784 bytes, labels one, text context + 1
//   stride   from one record to the next: less than a record for text, whose last token is the
//            first of the next record
//   chunk    records_per_chunk records, the last chunk of a part fewer; numbered across parts
//
// Pure arithmetic.

#include <cstdint>

#include "wide/base/error.h"

namespace wide::data {

enum class ElementType : std::uint8_t { kU8 = 1, kU16, kI32, kI64, kF16, kF32 };
std::uint32_t element_bytes(ElementType type);

inline constexpr std::uint64_t kChunkBytes = 1u << 20;      // aimed at
inline constexpr std::uint64_t kChunkBytesMax = 64u << 20;  // one record may be this large

struct Part {
  ElementType type = ElementType::kU8;
  std::uint64_t count = 0;  // records
  std::uint64_t record_elements = 0;
  std::uint64_t stride_elements = 0;
  std::uint64_t records_per_chunk = 0;
  std::uint64_t first_chunk = 0;

  std::uint64_t record_bytes() const { return record_elements * element_bytes(type); }
  std::uint64_t stride_bytes() const { return stride_elements * element_bytes(type); }
  std::uint64_t chunk_count() const;
  std::uint64_t chunk_of(std::uint64_t record) const {
    return first_chunk + record / records_per_chunk;
  }
  // Of all the part's bytes, where a chunk begins and how long it is.
  std::uint64_t chunk_begin(std::uint64_t chunk) const;
  std::uint64_t chunk_bytes(std::uint64_t chunk) const;
  std::uint64_t bytes() const;  // from the first record's begin to the last one's end

  friend bool operator==(const Part&, const Part&) = default;
};

// kSamplesCorrupt where there are no records, a record or chunk is larger than kChunkBytesMax, or
// the arithmetic above could leave 64 bits.
Result<void> check_part(const Part& part);

// Fills in records_per_chunk: chunks of at most kChunkBytes, and larger ones only where there would
// be more than a quarter of a million. Errors as check_part has them.
Result<Part> make_part(ElementType type, std::uint64_t count, std::uint64_t record_elements,
                       std::uint64_t stride_elements, std::uint64_t first_chunk);

}  // namespace wide::data
