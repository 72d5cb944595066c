#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "wide/apps/cli/bench/codec/codec_rows.h"
#include "wide/base/check.h"
#include "wide/codec/lossless.h"

namespace wide::apps::bench {

namespace {

using codec::Lossless;

constexpr std::array kCodecs = {Lossless::kLz4, Lossless::kZstd, Lossless::kZlib, Lossless::kZlib9,
                                Lossless::kPlanes};

// An array coded block by block, each on its own, as a link does; but with room for codes that do
// not get smaller, which a link gives up and sends as they are: their time counts here as well.
class CodedBlocks final {
 public:
  CodedBlocks(Lossless codec, std::span<const std::byte> raw) : codec_(codec), raw_(raw) {
    for (std::size_t at = 0; at < raw.size(); at += codec::kBlockBytesMax) {
      Block block;
      block.raw = raw.subspan(at, std::min(codec::kBlockBytesMax, raw.size() - at));
      block.coded.resize(block.raw.size() + block.raw.size() / 8 + 600);
      blocks_.push_back(std::move(block));
    }
    back_.resize(raw.size());
  }

  void encode() {
    for (auto& block : blocks_) {
      block.coded_bytes = coder_.encode(codec_, block.raw, block.coded);
    }
  }
  void decode() {
    std::size_t at = 0;
    for (const auto& block : blocks_) {
      const auto coded = std::span(block.coded).first(block.coded_bytes);
      const auto out = std::span(back_).subspan(at, block.raw.size());
      WIDE_CHECK(coder_.decode(codec_, coded, out).has_value());
      at += block.raw.size();
    }
  }
  bool came_back() const { return std::ranges::equal(raw_, back_); }

  // A block that does not get smaller is sent as it is.
  std::size_t bytes() const {
    std::size_t total = 0;
    for (const auto& block : blocks_) total += std::min(block.coded_bytes, block.raw.size());
    return total;
  }

 private:
  struct Block {
    std::span<const std::byte> raw;
    std::vector<std::byte> coded;
    std::size_t coded_bytes = 0;
  };

  codec::LosslessCoder coder_;
  Lossless codec_;
  std::span<const std::byte> raw_;
  std::vector<Block> blocks_;
  std::vector<std::byte> back_;
};

double bound_bytes(std::span<const float> values) {
  constexpr std::size_t kBlockFloats = codec::kBlockBytesMax / sizeof(float);
  double total = 0;
  for (std::size_t at = 0; at < values.size(); at += kBlockFloats) {
    total += codec::order0_bytes(values.subspan(at, std::min(kBlockFloats, values.size() - at)));
  }
  return total;
}

}  // namespace

void measure_lossless(const Specimen& specimen, const Pace& pace, std::vector<Row>& rows) {
  const auto raw = std::as_bytes(std::span(specimen.values));
  const auto raw_bytes = static_cast<double>(raw.size());
  std::vector<std::byte> copy(raw.size());
  std::vector<CodedBlocks> coded;
  for (const auto codec : kCodecs) coded.emplace_back(codec, raw);

  Turns turns;
  turns.add("memcpy", [&] {
    std::memcpy(copy.data(), raw.data(), raw.size());
    keep_what_was_written();
  });
  for (std::size_t i = 0; i < kCodecs.size(); ++i) {
    const std::string name(codec::lossless_name(kCodecs[i]));
    turns.add(name + "/encode", [&coded, i] { coded[i].encode(); });
    turns.add(name + "/decode", [&coded, i] { coded[i].decode(); });
  }
  turns.run(pace);

  for (std::size_t i = 0; i < kCodecs.size(); ++i) {
    WIDE_CHECK(coded[i].came_back());
    const std::string name(codec::lossless_name(kCodecs[i]));
    const auto bytes = static_cast<double>(coded[i].bytes());
    const auto add = [&](std::string_view what, double measured, const char* unit,
                         const char* against, double ratio) {
      Row row = row_about(specimen, name, what);
      row.measured = measured;
      row.unit = unit;
      row.against = against;
      row.ratio = ratio;
      rows.push_back(std::move(row));
    };
    add(kSize, bytes, "bytes", "raw bytes", bytes / raw_bytes);
    if (kCodecs[i] == Lossless::kPlanes) {
      add(kBound, bytes, "bytes", "order-0 bound", bytes / bound_bytes(specimen.values));
    }
    for (const auto what : {kEncode, kDecode}) {
      const std::string turn = name + "/" + std::string(what);
      add(what, raw_bytes / turns.median_seconds(turn) / 1e9, "GB/s", "memcpy",
          turns.speed_over(turn, "memcpy"));
    }
  }
}

}  // namespace wide::apps::bench
