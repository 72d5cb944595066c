#include "wide/codec/topk.h"

#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "wide/codec/elias_fano.h"
#include "wide/codec/lossy_groups.h"
#include "wide/codec/topk_draw.h"
#include "wide/codec/topk_kernels.h"

namespace wide::codec {

namespace {

constexpr std::size_t kFlagBytes = 4;

std::uint32_t magnitude_bits(float value) {
  return std::bit_cast<std::uint32_t>(value) & kMagnitudeMask;
}

// --- A bit per value ---

template <class Each>
void each_bit(std::span<const std::uint64_t> words, std::size_t first, const Each& each_place) {
  for (std::size_t at = 0; at < words.size(); ++at) {
    for (std::uint64_t word = words[at]; word != 0; word &= word - 1) {
      each_place(first + at * 64 + static_cast<unsigned>(std::countr_zero(word)));
    }
  }
}

class Marks final {
 public:
  explicit Marks(std::size_t count) : words_((count + 63) / 64) {}

  bool has(std::size_t place) const { return (words_[place / 64] >> place % 64 & 1) != 0; }
  void set(std::size_t place) { words_[place / 64] |= std::uint64_t{1} << place % 64; }

  template <class Each>
  void each(const Each& each_place) const {
    each_bit(words_, 0, each_place);
  }

 private:
  std::vector<std::uint64_t> words_;
};

// --- Which are the largest ---

// Calls each_one(place, magnitude's bits) where they are `least_bits` or more, rising; a few pages
// at a time, so that each value is still in the first cache.
template <class Each>
void each_large(std::span<const float> values, std::uint32_t least_bits, const Each& each_one) {
  constexpr std::size_t kPart = 4096;
  std::array<std::uint64_t, kPart / 64> words;
  for (std::size_t at = 0; at < values.size(); at += kPart) {
    const std::size_t count = std::min(kPart, values.size() - at);
    mark_large(values.data() + at, count, least_bits, words.data());
    each_bit(std::span(words).first((count + 63) / 64), at,
             [&](std::size_t place) { each_one(place, magnitude_bits(values[place])); });
  }
}

// All magnitudes above `bits` are among the largest, and the first `ties` of those that equal it.
struct Threshold {
  std::uint32_t bits = kMagnitudeMask;
  std::size_t ties = 0;
  bool finite = true;
};

using Bins = std::array<std::size_t, 1u << 11>;  // 16 KB: in the first cache
constexpr unsigned kTopShift = 20;               // 31 bits of magnitude: 11, then twice 10

// Which bin, from the top, holds the k-th; `k` becomes its rank within that bin.
std::uint32_t bin_of(const Bins& bins, std::size_t& k) {
  std::size_t bin = bins.size() - 1;
  for (; bins[bin] < k; --bin) k -= bins[bin];
  return static_cast<std::uint32_t>(bin);
}

// Among magnitudes that are alike above `shift` + 10 bits, keeps those that the next ten bits of
// the k-th share.
void narrow(std::vector<std::uint32_t>& alike, unsigned shift, std::size_t& k) {
  Bins bins{};
  for (const std::uint32_t bits : alike) ++bins[bits >> shift & 1023];
  const std::uint32_t bin = bin_of(bins, k);
  std::erase_if(alike, [=](std::uint32_t bits) { return (bits >> shift & 1023) != bin; });
}

// Two sets of bins, in turns: values alike often follow each other, and one bin cannot be counted
// up twice at once.
Bins top_bins(std::span<const float> values) {
  Bins even{}, odd{};
  std::size_t i = 0;
  for (; i + 2 <= values.size(); i += 2) {
    ++even[magnitude_bits(values[i]) >> kTopShift];
    ++odd[magnitude_bits(values[i + 1]) >> kTopShift];
  }
  if (i < values.size()) ++even[magnitude_bits(values[i]) >> kTopShift];
  for (std::size_t bin = 0; bin < even.size(); ++bin) even[bin] += odd[bin];
  return even;
}

Threshold threshold_of(std::span<const float> values, std::size_t k) {
  const Bins bins = top_bins(values);
  Threshold threshold;
  for (std::size_t bin = kInfinityBits >> kTopShift; bin < bins.size(); ++bin) {
    threshold.finite = threshold.finite && bins[bin] == 0;
  }
  if (!threshold.finite || k == 0) return threshold;

  const std::uint32_t bin = bin_of(bins, k);
  std::vector<std::uint32_t> alike;
  alike.reserve(bins[bin]);
  each_large(values, bin << kTopShift, [&](std::size_t, std::uint32_t bits) {
    if (bits >> kTopShift == bin) alike.push_back(bits);
  });
  narrow(alike, 10, k);
  narrow(alike, 0, k);
  threshold.bits = alike.front();
  threshold.ties = k;
  return threshold;
}

Marks largest(std::span<const float> values, const Threshold& threshold) {
  Marks marks(values.size());
  std::size_t ties = threshold.ties;
  each_large(values, threshold.bits, [&](std::size_t place, std::uint32_t bits) {
    if (bits == threshold.bits && ties == 0) return;
    if (bits == threshold.bits) --ties;
    marks.set(place);
  });
  return marks;
}

// --- The code ---

void put_nan(std::span<std::byte> coded) {
  std::memset(coded.data(), 0, coded.size());
  std::memcpy(coded.data(), &kNanBits, sizeof(kNanBits));
}

class Writer final {
 public:
  Writer(std::span<std::byte> coded, std::size_t count, std::size_t kept)
      : places_(count, kept),
        values_(coded.subspan(kFlagBytes)),
        places_coded_(values_.subspan(kept * sizeof(float))) {
    std::memset(coded.data(), 0, coded.size());
  }
  void put(std::size_t place, float value) {
    const float cleared = value + 0.0f;
    std::memcpy(values_.data() + written_ * sizeof(float), &cleared, sizeof(float));
    places_.put(written_++, place, places_coded_);
  }

 private:
  EliasFano places_;
  std::span<std::byte> values_;
  std::span<std::byte> places_coded_;
  std::size_t written_ = 0;
};

float clamped_product(float value, float factor) {
  constexpr float kMax = std::numeric_limits<float>::max();
  return std::clamp(value * factor, -kMax, kMax);
}

// What the i-th value is; false: nobody writes such a one.
bool value_at(std::span<const std::byte> values, std::size_t i, float& value) {
  std::memcpy(&value, values.data() + i * sizeof(float), sizeof(float));
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return (bits & kMagnitudeMask) < kInfinityBits && bits != 0x80000000u;
}

bool decode_nan(std::span<const std::byte> coded, std::span<float> out) {
  std::ranges::fill(out, std::bit_cast<float>(kNanBits));
  return std::ranges::all_of(coded.subspan(kFlagBytes),
                             [](std::byte byte) { return byte == std::byte{}; });
}

}  // namespace

std::size_t topk_bytes(std::size_t count) {
  const std::size_t kept = topk_kept(count);
  if (kept == 0) return 0;
  return kFlagBytes + kept * sizeof(float) + EliasFano(count, kept).bytes();
}

void encode_topk_unbiased(std::span<const float> values, const Rounding& rounding,
                          std::span<std::byte> coded) {
  if (values.empty()) return;
  const std::size_t kept = topk_kept(values.size()), exact = kept / 2, drawn = kept - exact;
  const Threshold threshold = threshold_of(values, exact);
  if (!threshold.finite) return put_nan(coded);

  Marks marks = largest(values, threshold), marks_drawn(values.size());
  PlaceDraw draw(rounding);
  for (std::size_t i = 0; i < drawn; ++i) {
    std::size_t place = draw.next(values.size());
    while (marks.has(place)) place = draw.next(values.size());
    marks.set(place);
    marks_drawn.set(place);
  }

  const float factor = draw_factor(values.size() - exact, drawn);
  Writer writer(coded, values.size(), kept);
  marks.each([&](std::size_t place) {
    const float value = values[place];
    writer.put(place, marks_drawn.has(place) ? clamped_product(value, factor) : value);
  });
}

void encode_topk_with_feedback(std::span<float> values, std::span<std::byte> coded) {
  if (values.empty()) return;
  const std::size_t kept = topk_kept(values.size());
  const Threshold threshold = threshold_of(values, kept);
  if (!threshold.finite) {
    std::ranges::fill(values, std::bit_cast<float>(kNanBits));
    return put_nan(coded);
  }
  Writer writer(coded, values.size(), kept);
  largest(values, threshold).each([&](std::size_t place) {
    writer.put(place, values[place]);
    values[place] = 0;
  });
}

bool decode_topk(std::span<const std::byte> coded, std::span<float> out, bool add) {
  if (coded.size() != topk_bytes(out.size())) return false;
  if (out.empty()) return true;
  std::uint32_t flag;
  std::memcpy(&flag, coded.data(), sizeof(flag));
  if (flag == kNanBits) return decode_nan(coded, out);
  if (flag != 0) return false;

  if (!add) std::ranges::fill(out, 0.0f);
  const std::size_t kept = topk_kept(out.size());
  const auto values = coded.subspan(kFlagBytes), places = values.subspan(kept * sizeof(float));
  bool good = true;
  const bool in_order =
      EliasFano(out.size(), kept).read(places, [&](std::size_t i, std::size_t place) {
        float value;
        good = value_at(values, i, value) && good;
        out[place] = add ? out[place] + value : value;
      });
  return good && in_order;
}

}  // namespace wide::codec
