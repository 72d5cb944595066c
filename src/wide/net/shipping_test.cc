// Pools and nodes in one process: nodes that have no samples get them over the wire.

#include <gtest/gtest.h>

#include <fstream>
#include <list>
#include <thread>

#include "wide/data/library.h"
#include "wide/engine/sample_order.h"
#include "wide/net/sample_plan.h"
#include "wide/net/test_peers.h"
#include "wide/net/text_samples.h"

namespace wide::net {
namespace {

using namespace std::chrono_literals;

// Gradients that depend on every token of the unit's samples.
class ReadingComputer final : public engine::UnitComputer {
 public:
  ReadingComputer(const engine::Job& job, const engine::Layout& layout, data::DatasetPtr samples)
      : job_(job),
        stub_(engine::StubFactory(job, layout).make_computer()),
        samples_(std::move(samples)),
        order_(job_, samples_->space()),
        tokens_(samples_->space().sample_size()),
        labels_(samples_->space().target_count) {}

  double gradient(const engine::Weights& weights, Step step, Unit unit,
                  std::span<float> out) override {
    const double loss = stub_->gradient(weights, step, unit, out);
    const std::uint64_t first = (step * job_.train.units_per_step + unit) * job_.train.batch;
    for (std::uint64_t i = first; i < first + job_.train.batch; ++i) {
      samples_->load_train(order_.sample_at(i), {{}, tokens_, labels_, {}});
      out[0] += trace();
    }
    return loss;
  }
  engine::EvalOutcome evaluate(const engine::Weights& weights, std::uint64_t first,
                               std::uint64_t count) override {
    auto outcome = stub_->evaluate(weights, first, count);
    for (std::uint64_t i = first; i < first + count; ++i) {
      samples_->load_eval(i, {{}, tokens_, labels_, {}});
      outcome.loss_sum += static_cast<double>(trace());
    }
    return outcome;
  }

 private:
  float trace() const {
    const auto seen =
        xxh3(std::as_bytes(std::span(tokens_)), static_cast<std::uint64_t>(labels_[0]));
    return static_cast<float>(seen >> 40) * 0x1p-24f;
  }

  engine::Job job_;
  std::unique_ptr<engine::UnitComputer> stub_;
  data::DatasetPtr samples_;
  engine::SampleOrder order_;
  std::vector<std::int64_t> tokens_;
  std::vector<std::int64_t> labels_;
};

class ReadingFactory final : public engine::ComputerFactory {
 public:
  ReadingFactory(const engine::Job& job, const engine::Layout& layout, data::DatasetPtr samples)
      : job_(job), layout_(layout), samples_(std::move(samples)) {}
  std::unique_ptr<engine::UnitComputer> make_computer() override {
    return std::make_unique<ReadingComputer>(job_, layout_, samples_);
  }
  std::string libraries() const override { return "reading stub"; }

 private:
  engine::Job job_;
  engine::Layout layout_;
  data::DatasetPtr samples_;
};

std::unique_ptr<engine::ComputerFactory> make_reading(const engine::Job& job,
                                                      const engine::Layout& layout,
                                                      data::DatasetPtr samples) {
  return std::make_unique<ReadingFactory>(job, layout, std::move(samples));
}

class Shipping : public testing::Test {
 protected:
  PoolOnThread::Settings settings(engine::Ship ship = engine::Ship::kAuto) {
    PoolOnThread::Settings settings;
    settings.job = text_.job();
    settings.job.samples.ship = ship;
    settings.server.samples = text_.open();
    settings.server.progress_every = 2ms;
    return settings;
  }
  NodeClientOptions newcomer(const Endpoint& pool, std::uint16_t slots = 1) const {
    auto options = NodeOnThread::options_for(pool, slots);
    options.cache_folder = text_.folder() / "cache";
    return options;
  }
  // What a node computes that has the file itself.
  engine::Summary with_own_samples() {
    PoolOnThread pool(settings());
    auto options = newcomer(pool.address());
    options.samples_folder = text_.folder();
    NodeOnThread node(options, make_reading);
    EXPECT_FALSE(pool.end());
    EXPECT_EQ(pool.summary().shipped_bytes, 0u);
    return pool.summary();
  }
  engine::Summary with_newcomers(int count, engine::Ship ship, std::uint16_t slots = 1) {
    PoolOnThread pool(settings(ship));
    std::list<NodeOnThread> nodes;
    for (int i = 0; i < count; ++i)
      nodes.emplace_back(newcomer(pool.address(), slots), make_reading);
    EXPECT_FALSE(pool.end());
    return pool.summary();
  }

  TextSamples text_{5 << 20};
};

// A pool that says what a pool would never say must not bring a node down.
TEST_F(Shipping, ALeaseThatCannotBeIsRefusedAndNoMore) {
  const auto samples = text_.open();
  const SamplePlan plan(text_.job(),
                        std::make_shared<const data::Manifest>(samples->library()->manifest()));

  EXPECT_EQ(plan.run_of(wire::Lease{{1}, 0, 0, 0, 0xFFFFFFFF, 1}).count, 0u);
  EXPECT_EQ(plan.run_of(wire::EvalLease{{1}, 0, 0, 0xFFFFFFFF, 1}).count, 0u);
}

TEST_F(Shipping, ANodeWithoutSamplesTrainsToTheSameBits) {
  const auto expected = with_own_samples();

  const auto shipped = with_newcomers(1, engine::Ship::kAuto);
  const auto cached = with_newcomers(1, engine::Ship::kAuto);

  EXPECT_EQ(shipped.weights_sha256, expected.weights_sha256);
  EXPECT_EQ(shipped.eval_loss, expected.eval_loss);
  EXPECT_GE(shipped.shipped_bytes, 5u << 20);
  EXPECT_EQ(cached.weights_sha256, expected.weights_sha256);
  EXPECT_LT(cached.shipped_bytes, 4096u) << "the manifest alone";
}

TEST_F(Shipping, SeveralNodesAndSlotsTooAndSamplesThatComeWithTheLease) {
  const auto expected = with_own_samples();

  const auto several = with_newcomers(3, engine::Ship::kAuto, 2);
  const auto always = with_newcomers(2, engine::Ship::kAlways, 2);

  EXPECT_EQ(several.weights_sha256, expected.weights_sha256);
  EXPECT_EQ(always.weights_sha256, expected.weights_sha256);
  EXPECT_EQ(always.eval_loss, expected.eval_loss);
  EXPECT_GT(always.shipped_bytes, 30u * 5 * 4 * 65);
}

TEST_F(Shipping, WindowsTooGiveTheSameBits) {
  text_.job().samples.window_chunks = 2;
  const auto expected = with_own_samples();

  EXPECT_EQ(with_newcomers(2, engine::Ship::kAuto).weights_sha256, expected.weights_sha256);
}

TEST_F(Shipping, ADamagedChunkInTheCacheIsFetchedAgain) {
  const auto expected = with_newcomers(1, engine::Ship::kAuto);
  std::filesystem::path victim;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(text_.folder() / "cache" / "chunks")) {
    if (entry.is_regular_file()) victim = entry.path();
  }
  ASSERT_FALSE(victim.empty());
  std::fstream(victim, std::ios::in | std::ios::out | std::ios::binary).seekp(1000).put('!');

  const auto again = with_newcomers(1, engine::Ship::kAuto);

  EXPECT_EQ(again.weights_sha256, expected.weights_sha256);
  EXPECT_GT(again.shipped_bytes, 500u << 10) << "the one chunk";
  EXPECT_LT(again.shipped_bytes, 1100u << 10);
}

TEST_F(Shipping, ANodeWithoutACacheFolderTrainsToo) {
  const auto expected = with_own_samples();
  PoolOnThread pool(settings());
  auto options = newcomer(pool.address());
  options.cache_folder.clear();
  NodeOnThread node(options, make_reading);

  EXPECT_FALSE(pool.end());

  EXPECT_EQ(pool.summary().weights_sha256, expected.weights_sha256);
}

TEST_F(Shipping, ANodeWithoutSamplesIsTurnedAwayWhereTheJobSaysLocal) {
  PoolOnThread pool(settings(engine::Ship::kLocal));
  NodeOnThread node(newcomer(pool.address()), make_reading);

  ASSERT_TRUE(node.ends_within(10s));

  const auto error = node.end();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, Errc::kNotShipped);
}

TEST_F(Shipping, ANodeWhoseOwnSamplesDifferIsToldSo) {
  PoolOnThread pool(settings());
  const TextSamples other(1 << 20);
  auto options = newcomer(pool.address());
  options.samples_folder = other.folder();
  NodeOnThread node(options, make_reading);

  ASSERT_TRUE(node.ends_within(10s));

  const auto error = node.end();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, Errc::kSamplesDiffer);
}

TEST_F(Shipping, APoolWhoseSamplesChangeStopsAndSaysWhy) {
  auto endless = settings();
  endless.job.train.steps = std::uint64_t{1} << 40;
  PoolOnThread pool(endless);
  NodeOnThread node(newcomer(pool.address()), make_reading);
  while (pool.step() < 3) std::this_thread::yield();

  std::ofstream(text_.file(), std::ios::app) << "more";

  ASSERT_TRUE(pool.ends_within(10s));
  const auto error = pool.end();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, Errc::kSamplesChanged);
}

TEST_F(Shipping, GoesOnAfterTheLinkWasCutInTheMiddleOfAFetch) {
  text_.job().train.batch = 4000;  // the first unit alone needs every chunk
  text_.job().train.steps = 2;
  const auto expected = with_own_samples();
  auto pool = std::make_unique<PoolOnThread>(settings());
  const Endpoint address = pool->address();
  NodeOnThread node(newcomer(address), make_reading);
  const auto chunks = text_.folder() / "cache" / "chunks";
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(chunks); })) << "one has come";
  pool->server().abandon();
  pool.reset();

  auto again = settings();
  again.server.listen = address;
  PoolOnThread next(again);

  EXPECT_FALSE(next.end());
  EXPECT_EQ(next.summary().weights_sha256, expected.weights_sha256);
}

}  // namespace
}  // namespace wide::net
