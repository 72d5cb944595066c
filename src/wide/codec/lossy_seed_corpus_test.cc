// The seeds of lossy_fuzz and low_rank_fuzz, in tests/corpus, and those of lossless_fuzz that have
// runs of zeros, are what the encoders make of example floats. They also pin the formats: bytes
// that change mean another protocol version. Where they are meant to change, copy the folder that
// the failing test names over tests/corpus.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "wide/codec/example_floats.h"
#include "wide/codec/lossy.h"
#include "wide/codec/low_rank.h"
#include "wide/codec/planes.h"

namespace wide::codec {
namespace {

namespace fs = std::filesystem;
using Seeds = std::map<std::string, std::string>;  // by path under tests/corpus

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void add_lossy_seeds(Lossy codec, Seeds& seeds) {
  constexpr std::size_t kThird = 67;  // 201 values: one group and a short one
  const auto values = example::floats(example::Kind::kHeavy, 3 * kThird);
  std::vector<std::byte> coded(coded_bytes(codec, values.size()));
  encode_unbiased(codec, values, {1, 2, 3}, coded);
  const std::string path = "lossy_fuzz/" + std::string(lossy_name(codec));
  const auto number = static_cast<int>(codec);
  const char third = static_cast<char>(kThird);
  seeds[path] = std::string{static_cast<char>(number), third} + text_of(coded);
  seeds[path + "-floats"] = std::string{static_cast<char>(number | 0x80), third} +
                            text_of(std::as_bytes(std::span(values)));
}

void add_low_rank_seeds(Seeds& seeds) {
  const LowRank low_rank({{0, 12, 13}, {156, 5, 1}});
  const auto values = example::floats(example::Kind::kNormal, low_rank.count());
  std::vector<float> residual(values.size()), memory(low_rank.memory_count());
  std::vector<std::byte> coded(low_rank.coded_bytes());
  low_rank.begin(1, memory);
  low_rank.encode_with_feedback(values, residual, memory, coded);
  seeds["low_rank_fuzz/code"] = std::string("\x0c\x0d\x05") + text_of(coded);
  seeds["low_rank_fuzz/floats"] =
      std::string("\x8c\x0d\x05") + text_of(std::as_bytes(std::span(values)));
}

// Empty groups at both ends and between, zeros among the others, a tail of 3 bytes.
void add_runs_seeds(Seeds& seeds) {
  auto values = example::floats(example::Kind::kNormal, 16 * 160);
  const auto empty = [&](std::size_t group, std::size_t groups) {
    std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(16 * group), 16 * groups, 0.0f);
  };
  empty(0, 3);
  empty(9, 135);  // takes two bytes
  empty(150, 10);
  for (std::size_t i = 48; i < 144; i += 5) values[i] = 0;
  std::string raw = text_of(std::as_bytes(std::span(values))) + "end";
  std::vector<std::byte> coded(raw.size());
  coded.resize(encode_planes(std::as_bytes(std::span(raw)), coded));
  seeds["lossless_fuzz/planes-runs"] = std::string("\x05\x03\x28\0", 4) + text_of(coded);
  seeds["lossless_fuzz/there-and-back-runs"] = std::string("\x85\0\x30\0", 4) + raw;
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(LossySeedCorpus, IsWhatTheEncodersWrite) {
  const fs::path kept = fs::path(__FILE__).parent_path() / "../../../tests/corpus";
  const fs::path fresh = fs::path(testing::TempDir()) / "wide-codec-corpus";
  Seeds seeds;
  for (const Lossy codec : {Lossy::kFp16, Lossy::kBf16, Lossy::kInt8, Lossy::kInt4, Lossy::kTopk,
                            Lossy::kSign, Lossy::kNone}) {
    add_lossy_seeds(codec, seeds);
  }
  add_low_rank_seeds(seeds);
  add_runs_seeds(seeds);

  for (const auto& [path, contents] : seeds) {
    fs::create_directories((fresh / path).parent_path());
    std::ofstream(fresh / path, std::ios::binary) << contents;

    EXPECT_TRUE(read_file(kept / path) == contents) << path << ": see " << fresh / path;
  }
}

}  // namespace
}  // namespace wide::codec
