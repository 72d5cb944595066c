// TorchScript modules with habits: whatever their code does to them, a unit stays pure, and its
// gradient is the whole one.

#include <ATen/core/List.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "wide/data/scratch_folder.h"
#include "wide/train/odd_scripts.h"
#include "wide/train/subjects.h"

namespace wide::train {
namespace {

using testing::HasSubstr;

// Rows of 3 features in 3 classes.
SampleSpace rows() {
  SampleSpace space;
  space.train_count = 20;
  space.eval_count = 8;
  space.sample_shape = {3};
  space.class_count = 3;
  return space;
}

class OddScript : public testing::Test {
 protected:
  Subject subject_of(const torch::jit::Module& module, const SampleSpace& space) {
    Subject subject;
    subject.job.model.kind = engine::ModelKind::kTorchScript;
    subject.job.train.batch = 4;
    subject.job.train.units_per_step = 3;
    subject.space = space;
    subject.file = folder_ / ("model" + std::to_string(++file_count_) + ".pt");
    module.save(subject.file.string());
    return subject;
  }
  Bench bench_of(const torch::jit::Module& module, const SampleSpace& space = rows()) {
    return Bench(subject_of(module, space));
  }

  data::ScratchFolder folder_;
  int file_count_ = 0;
};

// The slope of the loss along a made-up direction, by two more losses.
double slope_by_difference(Bench& bench, std::span<const float> direction) {
  const auto loss_at = [&](float distance) {
    auto moved = std::make_shared<engine::WeightsVersion>();
    moved->values = take_floats(bench.buffers_, bench.layout_.value_count());
    for (std::size_t i = 0; i < moved->values.size(); ++i) {
      moved->values.values[i] = bench.weights_->values.values[i] + distance * direction[i];
    }
    std::vector<float> ignored(moved->values.size());
    return bench.computer_->gradient(moved, 0, 0, ignored);
  };
  return (loss_at(0.01f) - loss_at(-0.01f)) / 0.02;
}

void expect_whole_gradient(Bench bench) {
  const auto gradient = bench.gradient(0, 0);
  std::vector<float> direction(gradient.size());
  fill_made_up("direction", 1.0f, 0.0f, direction);

  double slope = 0;
  for (std::size_t i = 0; i < bench.layout_.parameter_count; ++i)
    slope += gradient[i] * direction[i];

  EXPECT_NEAR(slope_by_difference(bench, direction), slope, 0.002 * std::abs(slope));
}

TEST_F(OddScript, AddsUpTheGradientsOfASharedWeight) {
  expect_whole_gradient(bench_of(tied_script()));
}

// nn.LSTM keeps its weights a second time, in a list; what is trained must be what is computed
// with.
TEST_F(OddScript, TrainsWeightsThatAListHoldsToo) {
  auto module = scorer_script(3, 3);
  c10::List<at::Tensor> flat({module.attr("weight").toTensor()});
  module.register_attribute("flat", c10::ListType::create(c10::TensorType::get()), flat);
  module.define("def again(self, x):\n  return torch.matmul(x, self.flat[0].t())\n");
  torch::jit::Module outer("outer");
  outer.register_module("inner", module);
  outer.define("def forward(self, x):\n  return self.inner.again(x)\n");

  auto bench = bench_of(outer);

  EXPECT_GT(std::abs(bench.gradient(0, 0)[0]), 0);
  expect_whole_gradient(bench_of(outer));
}

// The graph of one unit must not reach into the next through a buffer that was written in place.
TEST_F(OddScript, ForgetsTheGraphOfABufferWrittenInPlace) {
  auto module = scorer_script(3, 3);
  module.register_buffer("trace", at::zeros({3}));
  module.define(R"(
def step(self, x):
  self.trace.mul_(0.9).add_(self.weight.mean(0) * 0.1)
  return torch.matmul(x, self.weight.t()) + self.trace
)");
  torch::jit::Module outer("outer");
  outer.register_module("inner", module);
  outer.define("def forward(self, x):\n  return self.inner.step(x)\n");
  auto bench = bench_of(outer);

  const auto first = bench.gradient(0, 0);
  bench.gradient(0, 1);
  const auto again = bench.gradient(0, 0);

  EXPECT_EQ(first, again);
}

TEST_F(OddScript, PutsBackEverythingThatTheCodeChanged) {
  auto module = scorer_script(3, 3);
  module.register_attribute("calls", c10::IntType::get(), 0);
  module.register_attribute("share", c10::FloatType::get(), 1.0);
  module.register_attribute("seen", c10::ListType::ofInts(), c10::List<std::int64_t>());
  module.register_attribute("last", c10::OptionalType::create(c10::TensorType::get()),
                            c10::IValue());
  module.register_attribute("plain", c10::TensorType::get(), at::full({3}, 1.0f));
  module.register_buffer("count", at::zeros({}, at::kLong));
  module.register_buffer("mean", at::zeros({3}));
  torch::jit::Module outer("outer");
  module.define(R"(
def step(self, x):
  self.weight.detach().mul_(0.5)
  self.calls += 1
  self.share = self.share * 0.5
  self.seen.append(self.calls)
  self.count.add_(1)
  self.plain.add_(1.0)
  self.mean = self.mean * 0.9 + x.mean(0) * 0.1
  more = torch.zeros_like(self.plain)
  last = self.last
  if last is not None:
    more = more + last
  self.last = x.sum(0)
  y = torch.matmul(x, self.weight.t()) * self.share + float(len(self.seen)) * self.plain
  return y * self.count + more
)");
  outer.register_module("inner", module);
  outer.define("def forward(self, x):\n  return self.inner.step(x)\n");
  auto bench = bench_of(outer);

  const auto first = bench.gradient(0, 0);
  const auto other = bench.gradient(1, 2);
  const auto held_out = bench.computer_->evaluate(bench.weights_, 0, 8);

  EXPECT_EQ(hash(bench.gradient(0, 0)), hash(first));
  EXPECT_EQ(hash(bench_of(outer).gradient(1, 2)), hash(other));
  EXPECT_EQ(bench.computer_->evaluate(bench.weights_, 0, 8).loss_sum, held_out.loss_sum);
  const auto mean = bench.layout_.find("inner.mean").offset;
  EXPECT_NE(first[mean], other[mean]);  // the statistics that the code moved on came back
  EXPECT_NE(first[mean], bench.weights_->values.values[mean]);
}

// x.data is outside of libtorch's count of writes.
TEST_F(OddScript, NoticesWritesThatAreNotCounted) {
  torch::jit::Module module("sly");
  module.register_parameter("weight", at::full({3, 3}, 0.5f).set_requires_grad(true), false);
  module.register_buffer("mask", at::full({3}, 1, at::kLong));
  module.define(
      "def forward(self, x):\n  self.weight.data.mul_(0.5)\n  self.mask.data.add_(1)\n"
      "  return torch.matmul(x, self.weight.t()) * self.mask\n");
  auto bench = bench_of(module);

  EXPECT_EQ(hash(bench.gradient(0, 0)), hash(bench.gradient(0, 0)));
}

TEST_F(OddScript, LeavesZerosWhereNothingDepends) {
  auto module = scorer_script(3, 3);
  module.register_parameter("unused", at::full({5}, 1.0f).set_requires_grad(true), false);
  auto bench = bench_of(module);

  const auto gradient = bench.gradient(0, 0);

  const auto unused = bench.layout_.find("unused");
  for (std::size_t i = 0; i < unused.size; ++i) EXPECT_EQ(gradient[unused.offset + i], 0.0f);
}

TEST_F(OddScript, GathersSparseGradients) {
  const auto embedding = [](const std::string& sparse) {
    torch::jit::Module module("embedding");
    module.register_parameter("weight", at::full({16, 16}, 0.5f).set_requires_grad(true), false);
    module.define("def forward(self, x):\n  return torch.embedding(self.weight, x, -1, False, " +
                  sparse + ")\n");
    return module;
  };

  const auto sparse = bench_of(embedding("True"), space_of_text()).gradient(0, 0);

  EXPECT_EQ(sparse, bench_of(embedding("False"), space_of_text()).gradient(0, 0));
  EXPECT_GT(std::ranges::count_if(sparse, [](float value) { return value != 0; }), 20);
}

TEST_F(OddScript, AcceptsValuesAsARowOrOneByOne) {
  auto space = rows();
  space.class_count = 0;
  auto one_by_one = scorer_script(3, 1);
  torch::jit::Module flat("flat");
  flat.register_module("inner", one_by_one);
  flat.define("def forward(self, x):\n  return self.inner.forward(x).squeeze(1)\n");

  auto row = bench_of(one_by_one, space).gradient(0, 0);

  // Weights are made up by name, so "weight" and "inner.weight" differ; the shapes must both do.
  EXPECT_EQ(row.size(), bench_of(flat, space).gradient(0, 0).size());
  expect_whole_gradient(bench_of(flat, space));
}

TEST_F(OddScript, RefusesAnswersThatDoNotFit) {
  const auto refusal_of = [&](const torch::jit::Module& module, const SampleSpace& space,
                              engine::Loss loss = engine::Loss::kCrossEntropy) -> std::string {
    auto subject = subject_of(module, space);
    subject.job.train.loss = loss;
    try {
      Bench(subject).gradient(0, 0);
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.error().code, Errc::kModelUnfit) << failure.what();
      return failure.error().detail;
    }
    return "accepted";
  };
  auto values = rows();
  values.class_count = 0;
  values.target_count = 2;

  EXPECT_THAT(refusal_of(scorer_script(3, 2), rows()), HasSubstr("shape [4, 2] for 4 samples"));
  EXPECT_EQ(refusal_of(scorer_script(3, 5), rows()), "accepted");
  EXPECT_THAT(refusal_of(scorer_script(3, 5), rows(), engine::Loss::kMse),
              HasSubstr("[4, 3] of floats is needed"));
  EXPECT_THAT(refusal_of(scorer_script(3, 3), values, engine::Loss::kMse), HasSubstr("[4, 2]"));
  EXPECT_THAT(refusal_of(script_of("self.weight.sum() * x.sum()"), rows()), HasSubstr("shape []"));
  EXPECT_THAT(refusal_of(script_of("(self.weight.sum() * x).to(3)"), rows()), HasSubstr("Int"));
  EXPECT_THAT(refusal_of(script_of("x * self.weight.detach().sum()"), rows()),
              HasSubstr("depends on no parameter"));
  EXPECT_THAT(refusal_of(script_of("x * self.weight.sum()"), space_of_text()),
              HasSubstr("[4, 12, at least 16]"));
}

TEST_F(OddScript, SaysWhereItsCodeFailed) {
  auto subject = subject_of(script_of("torch.matmul(x, self.weight)"), rows());
  Bench bench(subject);

  try {
    bench.gradient(0, 0);
    ADD_FAILURE();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, Errc::kComputeFailed);
    EXPECT_THAT(failure.error().detail, HasSubstr("4x3 and 2x2"));
  }
}

TEST_F(OddScript, HasOneSlotWhereItDrawsNumbers) {
  auto drawing = make_subject("lstm", /*dropout=*/true);
  auto plain = make_subject("lstm", /*dropout=*/false);
  Bench thinned(drawing);
  Bench whole(plain);

  EXPECT_NO_THROW(whole.factory_->make_computer());
  try {
    thinned.factory_->make_computer();
    ADD_FAILURE();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, Errc::kModelUnfit);
    EXPECT_THAT(failure.error().detail, HasSubstr("one slot per process"));
  }
  thinned.computer_.reset();
  EXPECT_NO_THROW(thinned.factory_->make_computer());
}

TEST_F(OddScript, IsReadOnlyUnderTheHashOfTheJob) {
  auto subject = subject_of(scorer_script(3, 3), rows());
  const auto layout = genesis_of(subject).layout;
  const auto samples = std::make_shared<MadeUpSamples>(rows());
  const auto code_of = [&](const engine::Job& job, const engine::Layout& known) {
    try {
      make_torch_factory(job, known, samples, subject.file)->make_computer();
    } catch (const Failure& failure) {
      return failure.error().code;
    }
    return Errc::kBug;
  };
  auto other = subject.job;
  other.model.sha256 = sha256("another file");
  auto none = subject.job;
  none.model.sha256 = {};
  auto renamed = layout;
  renamed.tensors[0].name = "heavy";

  EXPECT_EQ(code_of(subject.job, layout), Errc::kBug);  // none thrown
  EXPECT_EQ(code_of(other, layout), Errc::kModelDiffers);
  EXPECT_EQ(code_of(none, layout), Errc::kModelDiffers);
  EXPECT_EQ(code_of(subject.job, renamed), Errc::kModelUnfit);
}

}  // namespace
}  // namespace wide::train
