#include "wide/codec/lossless.h"

#include <lz4.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>

#include "wide/base/check.h"
#include "wide/codec/exponent_table.h"
#include "wide/codec/planes.h"

namespace wide::codec {

namespace {

using Bytes = std::span<const std::byte>;
using BytesOut = std::span<std::byte>;

constexpr std::array<std::string_view, kLosslessCount> kNames = {"none", "lz4",   "zstd",
                                                                 "zlib", "zlib9", "planes"};
constexpr int kZstdLevel = 1;

// Longer than any code of a block need be, and short enough for the libraries' ints.
constexpr std::size_t kCodedBytesMax = 2 * kBlockBytesMax;

const Bytef* zlib_in(Bytes bytes) { return reinterpret_cast<const Bytef*>(bytes.data()); }
Bytef* zlib_out(BytesOut bytes) { return reinterpret_cast<Bytef*>(bytes.data()); }
const char* chars(Bytes bytes) { return reinterpret_cast<const char*>(bytes.data()); }
char* chars(BytesOut bytes) { return reinterpret_cast<char*>(bytes.data()); }

std::size_t copied(Bytes from, BytesOut to) {
  if (from.size() > to.size()) return 0;
  std::memcpy(to.data(), from.data(), from.size());
  return from.size();
}

// A z_stream that is set up when first used, and stays where it is: zlib points back into it.
class Deflater final {
 public:
  explicit Deflater(int level) {
    WIDE_CHECK(deflateInit(&stream_, level) == Z_OK, "no memory for zlib");
  }
  ~Deflater() { deflateEnd(&stream_); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  std::size_t encode(Bytes raw, BytesOut out) {
    deflateReset(&stream_);
    stream_.next_in = const_cast<Bytef*>(zlib_in(raw));  // zlib only reads there
    stream_.avail_in = static_cast<uInt>(raw.size());
    stream_.next_out = zlib_out(out);
    stream_.avail_out = static_cast<uInt>(out.size());
    return deflate(&stream_, Z_FINISH) == Z_STREAM_END ? out.size() - stream_.avail_out : 0;
  }

 private:
  z_stream stream_{};
};

class Inflater final {
 public:
  Inflater() { WIDE_CHECK(inflateInit(&stream_) == Z_OK, "no memory for zlib"); }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  bool decode(Bytes coded, BytesOut out) {
    inflateReset(&stream_);
    stream_.next_in = const_cast<Bytef*>(zlib_in(coded));
    stream_.avail_in = static_cast<uInt>(coded.size());
    stream_.next_out = zlib_out(out);
    stream_.avail_out = static_cast<uInt>(out.size());
    return inflate(&stream_, Z_FINISH) == Z_STREAM_END && stream_.avail_in == 0 &&
           stream_.avail_out == 0;
  }

 private:
  z_stream stream_{};
};

// The library would also read skippable frames, several frames in a row, and the formats of its
// youth, whose decoders few have looked at since.
bool is_one_zstd_frame(Bytes coded) {
  constexpr std::uint32_t kMagic = ZSTD_MAGICNUMBER;
  std::uint32_t magic = 0;
  if (coded.size() < sizeof(magic)) return false;
  std::memcpy(&magic, coded.data(), sizeof(magic));
  return magic == kMagic &&
         ZSTD_findFrameCompressedSize(coded.data(), coded.size()) == coded.size();
}

struct FreeZstd {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

template <class T, class... Arguments>
T& made(std::unique_ptr<T>& kept, Arguments... arguments) {
  if (!kept) kept = std::make_unique<T>(arguments...);
  return *kept;
}

}  // namespace

// Each is made when its codec is first used: zlib9 alone wants a quarter of a megabyte.
struct LosslessCoder::Contexts {
  std::unique_ptr<LZ4_stream_t> lz4;
  std::unique_ptr<ZSTD_CCtx, FreeZstd> zstd_encoder;
  std::unique_ptr<ZSTD_DCtx, FreeZstd> zstd_decoder;
  std::unique_ptr<Deflater> zlib;
  std::unique_ptr<Deflater> zlib9;
  std::unique_ptr<Inflater> inflater;

  std::size_t encode_lz4(Bytes raw, BytesOut out) {
    const int bytes =
        LZ4_compress_fast_extState(&made(lz4), chars(raw), chars(out), static_cast<int>(raw.size()),
                                   static_cast<int>(out.size()), 1);
    return static_cast<std::size_t>(std::max(bytes, 0));
  }

  std::size_t encode_zstd(Bytes raw, BytesOut out) {
    if (!zstd_encoder) zstd_encoder.reset(ZSTD_createCCtx());
    WIDE_CHECK(zstd_encoder != nullptr, "no memory for zstd");
    const std::size_t bytes = ZSTD_compressCCtx(zstd_encoder.get(), out.data(), out.size(),
                                                raw.data(), raw.size(), kZstdLevel);
    return ZSTD_isError(bytes) != 0 ? 0 : bytes;
  }

  bool decode_zstd(Bytes coded, BytesOut out) {
    if (!is_one_zstd_frame(coded)) return false;
    if (!zstd_decoder) zstd_decoder.reset(ZSTD_createDCtx());
    WIDE_CHECK(zstd_decoder != nullptr, "no memory for zstd");
    return ZSTD_decompressDCtx(zstd_decoder.get(), out.data(), out.size(), coded.data(),
                               coded.size()) == out.size();
  }

  bool decode(Lossless codec, Bytes coded, BytesOut out) {
    switch (codec) {
      case Lossless::kNone:
        return coded.size() == out.size() && copied(coded, out) == out.size();
      case Lossless::kLz4:
        return LZ4_decompress_safe(chars(coded), chars(out), static_cast<int>(coded.size()),
                                   static_cast<int>(out.size())) == static_cast<int>(out.size());
      case Lossless::kZstd:
        return decode_zstd(coded, out);
      case Lossless::kZlib:
      case Lossless::kZlib9:
        return made(inflater).decode(coded, out);
      case Lossless::kPlanes:
        return decode_planes(coded, out);
    }
    return false;
  }
};

std::string_view lossless_name(Lossless codec) {
  const auto index = static_cast<std::size_t>(codec);
  return index < kNames.size() ? kNames[index] : "unknown";
}

std::optional<Lossless> lossless_named(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Lossless>(found - kNames.begin());
}

LosslessCoder::LosslessCoder() : contexts_(std::make_unique<Contexts>()) {}
LosslessCoder::~LosslessCoder() = default;
LosslessCoder::LosslessCoder(LosslessCoder&&) noexcept = default;
LosslessCoder& LosslessCoder::operator=(LosslessCoder&&) noexcept = default;

std::size_t LosslessCoder::encode(Lossless codec, Bytes raw, BytesOut out) {
  WIDE_CHECK(raw.size() <= kBlockBytesMax, "one block at a time");
  out = out.first(std::min(out.size(), kCodedBytesMax));
  if (raw.empty() || out.empty()) return 0;

  switch (codec) {
    case Lossless::kNone:
      return copied(raw, out);
    case Lossless::kLz4:
      return contexts_->encode_lz4(raw, out);
    case Lossless::kZstd:
      return contexts_->encode_zstd(raw, out);
    case Lossless::kZlib:
      return made(contexts_->zlib, 1).encode(raw, out);
    case Lossless::kZlib9:
      return made(contexts_->zlib9, 9).encode(raw, out);
    case Lossless::kPlanes:
      return encode_planes(raw, out);
  }
  WIDE_CHECK(false, "no such codec");
}

Result<void> LosslessCoder::decode(Lossless codec, Bytes coded, BytesOut out) {
  const auto bad = [&](std::string_view why) {
    return fail(Errc::kBadCoding, std::string(lossless_name(codec)) + ", " +
                                      std::to_string(coded.size()) + " bytes for " +
                                      std::to_string(out.size()) + ": " + std::string(why));
  };
  if (out.size() > kBlockBytesMax) return bad("more than a block");
  if (coded.size() > kCodedBytesMax) return bad("longer than any code");
  if (coded.empty() != out.empty()) return bad("nothing is coded as nothing, and nothing else is");
  if (!out.empty() && !contexts_->decode(codec, coded, out)) return bad("not what was encoded");
  return {};
}

double order0_bytes(std::span<const float> values) {
  const ExponentCounts counts = count_exponents(std::as_bytes(values));
  const auto total = static_cast<double>(values.size());
  double bits = 0;
  for (const std::uint32_t count : counts) {
    if (count > 0) bits += count * std::log2(total / count);
  }
  return bits / 8 + 3 * (total - counts[kZeroSymbol]);
}

}  // namespace wide::codec
