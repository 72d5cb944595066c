#include "wide/store/tensor_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cstdio>
#include <limits>
#include <sstream>
#include <string>

#include "wide/base/digest.h"
#include "wide/store/scratch_folder.h"

namespace wide::store {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Result<TensorFile> parse(const std::string& bytes) {
  return parse_tensor_file(std::as_bytes(std::span(bytes)), "some.safetensors");
}

std::string file_text(const std::string& json, const std::string& values) {
  const std::uint64_t length = json.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + json + values;
}

std::string tensor_json(const std::string& shape, const std::string& offsets) {
  return R"({"a":{"dtype":"F32","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
}

void expect_refused(const std::string& bytes, const std::string& why) {
  const auto file = parse(bytes);
  ASSERT_FALSE(file) << why;
  EXPECT_EQ(file.error().code, Errc::kTensorFileCorrupt);
  EXPECT_THAT(file.error().detail, AllOf(HasSubstr("some.safetensors"), HasSubstr(why)));
}

std::vector<TensorView> views_of(const std::vector<TensorFile::Tensor>& tensors) {
  std::vector<TensorView> views;
  for (const auto& tensor : tensors) views.push_back({tensor.name, tensor.shape, tensor.values});
  return views;
}

const std::vector<TensorFile::Tensor> kSmall = {
    {"layer1.weight", {2, 3}, {1, 2, 3, 4, 5, 6.5f}},
    {"layer1.bias", {2}, {-0.0f, std::numeric_limits<float>::infinity()}},
    {"count", {}, {7}},
    {"nothing", {3, 0}, {}},
    {"ünïcode \"quoted\"", {1}, {std::numeric_limits<float>::denorm_min()}}};
const Metadata kSmallMetadata = {{"job", "fashion"}, {"step", "60"}};

std::string small_file() {
  const ScratchFolder folder;
  EXPECT_TRUE(write_tensor_file(folder / "t", views_of(kSmall), kSmallMetadata));
  return read_text(folder / "t");
}

// Bits, not values: a NaN must come back as it went.
std::vector<std::uint32_t> bits_of(std::span<const float> values) {
  std::vector<std::uint32_t> bits;
  for (const float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

TEST(TensorFile, KeepsNamesShapesBitsOrderAndMetadata) {
  const auto file = parse(small_file()).value();

  ASSERT_EQ(file.tensors.size(), kSmall.size());
  for (std::size_t i = 0; i < kSmall.size(); ++i) {
    EXPECT_EQ(file.tensors[i].name, kSmall[i].name);
    EXPECT_EQ(file.tensors[i].shape, kSmall[i].shape);
    EXPECT_EQ(bits_of(file.tensors[i].values), bits_of(kSmall[i].values));
  }
  EXPECT_EQ(file.metadata, kSmallMetadata);
}

RC_GTEST_PROP(TensorFile, GivesBackAnyTensors, (const std::vector<std::vector<float>>& all)) {
  std::vector<TensorFile::Tensor> tensors;
  for (const auto& values : all) {
    const auto size = static_cast<std::uint32_t>(values.size());
    tensors.push_back({"tensor " + std::to_string(tensors.size()), {1, size}, values});
  }
  const ScratchFolder folder;
  RC_ASSERT(write_tensor_file(folder / "t", views_of(tensors), {}).has_value());

  const auto file = read_tensor_file(folder / "t").value();

  RC_ASSERT(file.tensors.size() == tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    RC_ASSERT(file.tensors[i].name == tensors[i].name);
    RC_ASSERT(file.tensors[i].shape == tensors[i].shape);
    RC_ASSERT(bits_of(file.tensors[i].values) == bits_of(tensors[i].values));
  }
}

TEST(TensorFile, ValuesBeginAtAMultipleOf64) {
  for (std::size_t length = 0; length < 70; ++length) {
    const ScratchFolder folder;
    const std::vector<float> values = {1};
    const TensorView tensor{std::string(length, 'n'), {1}, values};
    ASSERT_TRUE(write_tensor_file(folder / "t", std::span(&tensor, 1), {}));
    EXPECT_EQ(std::filesystem::file_size(folder / "t") % 64, 4u);
  }
}

TEST(TensorFile, RefusesEveryTruncationAndAByteToSpare) {
  const auto whole = small_file();

  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(parse(whole.substr(0, size))) << size;
  }
  EXPECT_FALSE(parse(whole + '\0'));
}

TEST(TensorFile, NeverCrashesOnAFlippedBitInItsHeader) {
  const auto whole = small_file();
  const auto header_end = whole.rfind('}') + 1;
  std::size_t values_bytes = 0;

  for (std::size_t bit = 0; bit < 8 * header_end; ++bit) {
    auto damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
    if (const auto file = parse(damaged)) {  // a changed name, perhaps
      for (const auto& tensor : file->tensors) values_bytes += tensor.values.size();
    }
  }
  EXPECT_GT(values_bytes, 0u);
}

TEST(ParseTensorFile, RefusesHeadersOfAbsurdLength) {
  expect_refused(std::string(8, '\xff'), "truncated, or no tensor file");
  expect_refused(std::string(7, '\0'), "truncated");
  expect_refused(file_text(std::string((16u << 20) + 1, ' '), ""), "are allowed");
}

TEST(ParseTensorFile, RefusesShapesThatDoNotFit) {
  EXPECT_TRUE(parse(file_text(tensor_json("[2]", "[0,8]"), "12345678")));
  expect_refused(file_text(tensor_json("[3]", "[0,8]"), "12345678"), "does not fit");
  expect_refused(file_text(tensor_json("[]", "[0,8]"), "12345678"), "does not fit");
  // 2^32 · 2^32 values of four bytes wrap to zero bytes.
  expect_refused(file_text(tensor_json("[4294967295,4294967295,4294967295]", "[0,0]"), ""),
                 "does not fit");
  expect_refused(file_text(tensor_json("[2147483648,2147483648]", "[0,0]"), ""), "does not fit");
  expect_refused(file_text(tensor_json("[4294967296]", "[0,0]"), ""), "extent");
  expect_refused(file_text(tensor_json("[-1]", "[0,0]"), ""), "negative");
  expect_refused(file_text(tensor_json("[1.5]", "[0,0]"), ""), "fraction");
  expect_refused(file_text(tensor_json("[99999999999999999999]", "[0,0]"), ""), "fraction");
}

TEST(ParseTensorFile, RefusesOffsetsWithGapsOverlapsOrBeyondTheFile) {
  expect_refused(file_text(tensor_json("[2]", "[0,8]"), "1234"), "the file has 4");
  expect_refused(file_text(tensor_json("[1]", "[4,8]"), "12345678"), "expected from 0");
  expect_refused(file_text(tensor_json("[1]", "[8,4]"), "12345678"), "expected from 0");
  expect_refused(file_text(tensor_json("[1]", "[0,4]"), "12345678"), "the file has 8");
  expect_refused(file_text(tensor_json("[1]", "[0]"), "1234"), "not two");
  expect_refused(file_text(tensor_json("[1]", "[0,4,8]"), "1234"), "a number");
  expect_refused(file_text(tensor_json("[1]", "[18446744073709551612,0]"), "1234"), "expected");
  const auto twice = R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                     R"("b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  expect_refused(file_text(twice, "1234"), "expected from 4");
}

TEST(ParseTensorFile, RefusesRepeatedNamesAndFields) {
  const std::string entry = R"({"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
  expect_refused(file_text(R"({"a":)" + entry + R"(,"a":)" + entry + "}", ""), "two tensors");
  expect_refused(file_text(R"({"a":{"dtype":"F32","dtype":"F32"}})", ""), "two fields dtype");
  expect_refused(file_text(R"({"__metadata__":{"k":"1","k":"2"}})", ""), "two entries");
  expect_refused(file_text(R"({"__metadata__":{},"__metadata__":{}})", ""), "two __metadata__");
}

TEST(ParseTensorFile, RefusesWhatTheFormatDoesNotHave) {
  expect_refused(file_text(R"({"a":{"dtype":"F16","shape":[2],"data_offsets":[0,4]}})", "1234"),
                 "only F32");
  expect_refused(file_text(R"({"a":{"dtype":"F32","shape":[1]}})", "1234"), "lacks");
  expect_refused(file_text(R"({"a":{"size":4}})", ""), "unknown field");
  expect_refused(file_text(R"({"a":4})", ""), "a number in an unexpected place");
  expect_refused(file_text(R"({"__metadata__":{"k":1}})", ""), "a number in an unexpected place");
  expect_refused(file_text(R"({"__metadata__":{"k":{}}})", ""), "an object in an unexpected");
  expect_refused(file_text(R"([])", ""), "does not begin with");
  expect_refused(file_text("", ""), "does not begin with");
  expect_refused(file_text("{} x", ""), "no JSON");
  expect_refused(file_text("{\"\xff\":{}}", ""), "no JSON");
}

TEST(ParseTensorFile, RefusesDeepNestingAtOnce) {
  expect_refused(file_text("{\"a\":" + std::string(1 << 20, '['), ""), "a list in an unexpected");
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  expect_refused(file_text(objects, ""), "unknown field");
}

TEST(ParseTensorFile, TakesAnEmptyFileOfNoTensors) {
  const auto file = parse(file_text("{}   ", ""));

  ASSERT_TRUE(file);
  EXPECT_TRUE(file->tensors.empty());
}

TEST(WriteTensorFile, RefusesNamesThatCannotBeWritten) {
  const ScratchFolder folder;
  const std::vector<float> values = {1};
  const auto refused = [&](std::vector<TensorView> tensors) {
    const auto done = write_tensor_file(folder / "t", tensors, {});
    return !done && done.error().code == Errc::kCannotWrite;
  };

  EXPECT_TRUE(refused({{"a", {1}, values}, {"a", {1}, values}}));
  EXPECT_TRUE(refused({{"__metadata__", {1}, values}}));
  EXPECT_TRUE(refused({{"\xff", {1}, values}}));
  EXPECT_EQ(folder.file_count(), 0u);
}

TEST(WriteTensorFile, SaysWhereItCannotWrite) {
  const auto done = write_tensor_file("/nowhere/t", {}, {});

  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Errc::kCannotWrite);
  EXPECT_THAT(done.error().detail, HasSubstr("/nowhere/t"));
}

TEST(ReadTensorFile, SaysWhatIsMissing) {
  EXPECT_EQ(read_tensor_file("/nowhere/t").error().code, Errc::kRunMissing);
}

std::filesystem::path repository() {
  return std::filesystem::path(__FILE__).parent_path().parent_path().parent_path().parent_path();
}

std::string output_of(const std::string& command) {
  std::string output;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return "popen failed";
  for (int letter = std::fgetc(pipe); letter != EOF; letter = std::fgetc(pipe)) {
    output += static_cast<char>(letter);
  }
  return ::pclose(pipe) == 0 ? output : "failed: " + output;
}

TEST(TensorFile, ReadsTheSameInPython) {
  const ScratchFolder folder;
  ASSERT_TRUE(write_tensor_file(folder / "t", views_of(kSmall), kSmallMetadata));
  const auto script = repository() / "scripts/read_safetensors.py";

  const auto output =
      output_of("/usr/bin/python3 " + script.string() + " " + (folder / "t").string());

  const auto digest = [](std::size_t i) {
    return " " + sha256(std::as_bytes(std::span(kSmall[i].values))).hex() + "\n";
  };
  EXPECT_EQ(output, "layer1.weight 2x3" + digest(0) + "layer1.bias 2" + digest(1) + "count scalar" +
                        digest(2) + "nothing 3x0" + digest(3) + "ünïcode \"quoted\" 1" + digest(4) +
                        "# job fashion\n# step 60\n");
}

}  // namespace
}  // namespace wide::store
