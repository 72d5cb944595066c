// What read_script_file finds in a file, and what it refuses, by files made here with libtorch and
// by those of scripts/export_models.py.

#include "wide/train/script_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "wide/data/scratch_folder.h"
#include "wide/train/exported_scripts.h"
#include "wide/train/odd_scripts.h"

namespace wide::train {
namespace {

using testing::HasSubstr;

class ReadScriptFile : public testing::Test {
 protected:
  std::filesystem::path saved(const torch::jit::Module& module) {
    const auto path = folder_ / "model.pt";
    module.save(path.string());
    return path;
  }
  std::filesystem::path written(const std::string& bytes) {
    const auto path = folder_ / "model.pt";
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  void expect_refused(const std::filesystem::path& path, Errc code, const std::string& words) {
    const auto found = read_script_file(path);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, code);
    EXPECT_THAT(found.error().detail, HasSubstr(words));
    EXPECT_THAT(found.error().detail, HasSubstr(path.string()));
  }
  void expect_unfit(const torch::jit::Module& module, const std::string& words) {
    expect_refused(saved(module), Errc::kModelUnfit, words);
  }

  data::ScratchFolder folder_;
};

std::string contents_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::vector<std::string> names_of(const ScriptFile& file) {
  std::vector<std::string> names;
  for (const auto& tensor : file.genesis.layout.tensors) names.push_back(tensor.name);
  return names;
}

TEST_F(ReadScriptFile, FindsParametersThenFloatBuffers) {
  auto module = scorer_script(3, 2);
  module.register_buffer("mean", at::full({3}, 0.5f));
  module.register_buffer("count", at::full({}, 7, at::kLong));
  module.register_buffer("later", at::full({2}, -std::numeric_limits<float>::infinity()));
  module.register_parameter("frozen", at::full({2}, 0.25f), false);
  for (const auto& frozen : module.named_parameters(false)) {
    if (frozen.name == "frozen") frozen.value.set_requires_grad(false);
  }

  const auto found = read_script_file(saved(module));

  ASSERT_TRUE(found) << found.error().detail;
  EXPECT_EQ(names_of(*found), (std::vector<std::string>{"weight", "mean", "frozen"}));
  EXPECT_EQ(found->genesis.layout.parameter_count, 6u);
  EXPECT_EQ(found->genesis.layout.buffer_count, 5u);
  EXPECT_EQ(found->genesis.layout.find("weight").shape, (std::vector<std::uint32_t>{2, 3}));
  EXPECT_EQ(found->genesis.values[found->genesis.layout.find("mean").offset + 2], 0.5f);
  EXPECT_EQ(found->genesis.values[found->genesis.layout.find("frozen").offset], 0.25f);
  EXPECT_EQ(found->sha256, sha256(contents_of(folder_ / "model.pt")));
  EXPECT_FALSE(found->draws_numbers);
}

TEST_F(ReadScriptFile, ListsASharedTensorOnceByItsFirstName) {
  const auto found = read_script_file(saved(tied_script()));

  ASSERT_TRUE(found) << found.error().detail;
  EXPECT_EQ(names_of(*found), std::vector<std::string>{"left.weight"});
}

TEST_F(ReadScriptFile, KnowsWhoDrawsNumbers) {
  for (const std::string kind : {"mobile", "lstm", "vit"}) {
    const auto thinned = read_script_file(exported_script(kind, /*dropout=*/true));
    ASSERT_TRUE(thinned) << thinned.error().detail;
    EXPECT_TRUE(thinned->draws_numbers) << kind;
  }
  EXPECT_FALSE(read_script_file(exported_script("mobile", false))->draws_numbers);
  EXPECT_FALSE(read_script_file(exported_script("lstm", false))->draws_numbers);
  // nn.MultiheadAttention hands its probability through variables: in doubt, yes.
  EXPECT_TRUE(read_script_file(exported_script("vit", false))->draws_numbers);
  for (const std::string draw :
       {"torch.rand_like(x)", "torch.bernoulli(x)", "torch.dropout(x, 0.5, self.training)",
        "torch.feature_dropout(x, 0.5, True)", "torch.rrelu(x)", "torch.normal(x, x)",
        "x.clone().uniform_(0.0, 1.0)", "torch.randint(3, [2, 2]) * x"}) {
    const auto found =
        read_script_file(saved(script_of("torch.matmul(" + draw + ", self.weight)")));
    ASSERT_TRUE(found) << draw << found.error().detail;
    EXPECT_TRUE(found->draws_numbers) << draw;
  }
  const auto never =
      read_script_file(saved(script_of("torch.dropout(x, 0.0, True) * self.weight")));
  EXPECT_FALSE(never->draws_numbers);
}

TEST_F(ReadScriptFile, RefusesAnotherHashBeforeItParses) {
  const auto path = written("no TorchScript at all");
  const auto other = sha256("another file");

  const auto found = read_script_file(path, other);

  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Errc::kModelDiffers);
  EXPECT_THAT(found.error().detail, HasSubstr(other.short_hex()));
  const auto real = saved(scorer_script(3, 2));
  EXPECT_TRUE(read_script_file(real, sha256(contents_of(real))));
}

TEST_F(ReadScriptFile, RefusesWhatIsNoFile) {
  expect_refused(folder_ / "nowhere.pt", Errc::kModelMissing, "no such file");
  expect_refused(folder_.path(), Errc::kModelMissing, "no such file");
}

TEST_F(ReadScriptFile, RefusesDamagedFiles) {
  const auto whole = contents_of(saved(scorer_script(30, 20)));

  expect_refused(written(""), Errc::kModelUnfit, "not a TorchScript file");
  expect_refused(written("PK\x03\x04 and then nothing"), Errc::kModelUnfit,
                 "not a TorchScript file");
  for (std::size_t eighth = 1; eighth < 8; ++eighth) {
    expect_refused(written(whole.substr(0, whole.size() * eighth / 8)), Errc::kModelUnfit,
                   "not a TorchScript file");
  }
  std::string noise(5000, '\0');
  std::uint32_t state = 1;
  for (char& byte : noise) byte = static_cast<char>((state = state * 1664525u + 1013904223u) >> 24);
  expect_refused(written(noise), Errc::kModelUnfit, "not a TorchScript file");
}

TEST_F(ReadScriptFile, RefusesOtherSignatures) {
  expect_unfit(script_with("def forward(self, x, y):\n  return x * self.weight + y\n"),
               "forward takes Tensor, Tensor and returns Tensor");
  expect_unfit(script_with("def forward(self, x):\n  return (x * self.weight, x)\n"),
               "returns Tuple[Tensor, Tensor]");
  expect_unfit(script_with("def forward(self, n: int):\n  return self.weight * n\n"),
               "forward takes int");
  expect_unfit(script_with("def forward(self):\n  return self.weight\n"), "forward takes nothing");
  expect_unfit(script_with("def other(self, x):\n  return self.weight * x\n"), "no method forward");
  EXPECT_TRUE(read_script_file(
      saved(script_with("def forward(self, x, n: int = 2):\n  return x * self.weight * n\n"))));
}

TEST_F(ReadScriptFile, RefusesTensorsThatCannotBeTrained) {
  torch::jit::Module empty("empty");
  empty.define("def forward(self, x):\n  return x\n");
  expect_unfit(empty, "no parameters to train");

  auto frozen = script_of("x * self.weight");
  frozen.attr("weight").toTensor().set_requires_grad(false);
  expect_unfit(frozen, "no parameters to train");

  auto precise = script_of("x * self.weight");
  precise.register_parameter("fine", at::full({2}, 1.0, at::kDouble), false);
  expect_unfit(precise, "'fine' holds Double");

  auto coarse = script_of("x * self.weight");
  coarse.register_parameter("half", at::full({2}, 1.0, at::kHalf), false);
  expect_unfit(coarse, "'half' holds Half");

  auto whole = script_of("x * self.weight");
  whole.register_parameter("whole", at::full({2}, 1, at::kLong), false);
  expect_unfit(whole, "'whole' holds Long");

  auto overlapping = script_of("x * self.weight");
  overlapping.register_parameter(
      "part", overlapping.attr("weight").toTensor().detach().narrow(0, 0, 1), false);
  expect_unfit(overlapping, "'weight' and 'part' share memory");
}

}  // namespace
}  // namespace wide::train
