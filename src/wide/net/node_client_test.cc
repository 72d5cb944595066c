#include "wide/net/node_client.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <filesystem>

#include "wide/net/pool_call.h"
#include "wide/net/test_peers.h"

namespace wide::net {

namespace {

constexpr std::uint64_t kEndless = 1'000'000'000;

// As the made-up one, until it breaks.
class BreakingComputer final : public engine::UnitComputer {
 public:
  BreakingComputer(std::unique_ptr<engine::UnitComputer> inner, int units_left)
      : inner_(std::move(inner)), units_left_(units_left) {}

  double gradient(const engine::Weights& weights, Step step, Unit unit,
                  std::span<float> out) override {
    if (units_left_-- == 0) throw std::runtime_error("the machine caught fire");
    return inner_->gradient(weights, step, unit, out);
  }
  engine::EvalOutcome evaluate(const engine::Weights& weights, std::uint64_t first,
                               std::uint64_t count) override {
    return inner_->evaluate(weights, first, count);
  }

 private:
  std::unique_ptr<engine::UnitComputer> inner_;
  int units_left_;
};

class BreakingFactory final : public engine::ComputerFactory {
 public:
  BreakingFactory(const engine::Job& job, const engine::Layout& layout) : stub_(job, layout) {}
  std::unique_ptr<engine::UnitComputer> make_computer() override {
    return std::make_unique<BreakingComputer>(stub_.make_computer(), 20);
  }
  std::string libraries() const override { return stub_.libraries(); }

 private:
  engine::StubFactory stub_;
};

std::unique_ptr<engine::ComputerFactory> make_breaking(const engine::Job& job,
                                                       const engine::Layout& layout,
                                                       const data::DatasetPtr&) {
  return std::make_unique<BreakingFactory>(job, layout);
}

NodeClientOptions hasty(const Endpoint& pool) {
  auto options = NodeOnThread::options_for(pool, 1);
  options.first_contact_max = 400ms;
  options.heartbeat = 20ms;
  options.silence_max = 300ms;
  return options;
}

PoolOnThread::Settings endless() {
  PoolOnThread::Settings settings;
  settings.job = small_job(kEndless);
  settings.server.progress_every = 2ms;
  return settings;
}

wire::Welcome welcome_to(const engine::Job& job) {
  const auto samples =
      data::make_synthetic(job.seed, job.samples.count, job.samples.features, job.samples.classes);
  wire::Welcome welcome;
  welcome.job_text = engine::canonical_text(job);
  welcome.samples_sha256 = samples->space().sha256;
  welcome.job_id = engine::job_id(job, welcome.samples_sha256);
  welcome.genesis_sha256 = engine::make_genesis(job, samples->space()).sha256();
  return welcome;
}

int idle_threads() {
  int count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    count += sched_getscheduler(std::stoi(task.path().filename())) == SCHED_IDLE ? 1 : 0;
  }
  return count;
}

}  // namespace

// Its keeper lives until the node is gone, asleep or not.
TEST(NodeClient, KeepsItsCoreAwakeBehindShortWorkWhereItIsToldTo) {
  for (const bool wakeful : {false, true}) {
    PoolOnThread pool({});
    auto options = NodeOnThread::options_for(pool.address(), 1);
    options.wakeful = wakeful;
    NodeOnThread node(options);
    EXPECT_FALSE(pool.end());
    EXPECT_FALSE(node.end());

    EXPECT_EQ(idle_threads(), wakeful ? 1 : 0);
  }
}

TEST(NodeClient, FailsSoonWhereNobodyListens) {
  Endpoint nobody;
  { nobody = RawListener().address(); }
  NodeOnThread node(hasty(nobody));

  ASSERT_TRUE(node.ends_within(3s));

  const auto error = node.end();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, Errc::kPoolUnreachable);
  EXPECT_NE(error->detail.find("refused"), std::string::npos);
}

TEST(NodeClient, FailsSoonWhereThePoolIsSilent) {
  RawListener silent;
  NodeOnThread node(hasty(silent.address()));

  ASSERT_TRUE(node.ends_within(3s));

  EXPECT_EQ(node.end()->code, Errc::kPoolUnreachable);
}

TEST(NodeClient, FailsSoonForANameThatNobodyKnows) {
  NodeOnThread node(hasty({"no-such-name.invalid", 7878}));

  ASSERT_TRUE(node.ends_within(3s));

  EXPECT_EQ(node.end()->code, Errc::kPoolUnreachable);
}

TEST(NodeClient, NoticesAStrangerOnTheLine) {
  RawListener listener;
  NodeOnThread node(hasty(listener.address()));
  auto caller = listener.accept();

  caller.say("SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n");

  ASSERT_TRUE(node.ends_within(3s));
  EXPECT_EQ(node.end()->code, Errc::kBadFrame);
}

TEST(NodeClient, HandsItsLeasesBackWhenItLeaves) {
  PoolOnThread pool(endless());
  NodeOnThread leaver(pool.address());
  ASSERT_TRUE(eventually([&] { return pool.step() > 2; }));

  leaver.client().leave("enough for today");

  ASSERT_TRUE(leaver.ends_within(5s));
  EXPECT_FALSE(leaver.end());
  ASSERT_TRUE(eventually([&] { return ask_pool(pool.address())->status.nodes.empty(); }));
  const Step before = pool.step();
  NodeOnThread next(pool.address());
  EXPECT_TRUE(eventually([&] { return pool.step() > before + 2; }));
}

TEST(NodeClient, LeavesEvenBeforeItHasBegun) {
  RawListener silent;
  NodeClient client(NodeOnThread::options_for(silent.address(), 1), {.make_factory = make_stub});
  client.leave("changed my mind");

  const Time start = steady_now();
  client.run();

  EXPECT_LT(steady_now() - start, 2s);
}

TEST(NodeClient, LeavesWithTheErrorOfABrokenComputer) {
  PoolOnThread pool(endless());
  NodeOnThread broken(pool.address(), 1, make_breaking);
  NodeOnThread broken_threads(pool.address(), 2, make_breaking);

  ASSERT_TRUE(broken.ends_within(10s));
  ASSERT_TRUE(broken_threads.ends_within(10s));

  const auto error = broken.end();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, Errc::kComputeFailed);
  EXPECT_NE(error->detail.find("caught fire"), std::string::npos);
  EXPECT_EQ(broken_threads.end()->code, Errc::kComputeFailed);
}

TEST(NodeClient, OutlivesAPoolThatGoesAwayAndComesBack) {
  std::string clean;
  {
    PoolOnThread pool({.job = small_job(200)});
    NodeOnThread node(pool.address());
    ASSERT_TRUE(pool.ends_within(15s));
    clean = pool.weights();
  }
  auto settings = PoolOnThread::Settings{.job = small_job(200)};
  settings.server.progress_every = 1ms;
  auto first = std::make_unique<PoolOnThread>(settings);
  NodeOnThread node(first->address());
  settings.server.listen = first->address();
  ASSERT_TRUE(eventually([&] { return first->step() > 0; }));

  first.reset();  // cut without a word
  PoolOnThread second(settings);

  ASSERT_TRUE(second.ends_within(15s));
  EXPECT_EQ(second.weights(), clean);
  ASSERT_TRUE(node.ends_within(5s));
  EXPECT_FALSE(node.end());
}

TEST(NodeClient, DialsAgainWhenAJoinedPoolFallsSilent) {
  RawListener listener;
  auto options = hasty(listener.address());
  options.first_contact_max = 10s;
  NodeOnThread node(options);
  const auto welcome = welcome_to(small_job());
  auto first = listener.accept();
  first.say(frames({welcome}));

  EXPECT_TRUE(first.is_cut(5s));
  auto second = listener.accept();

  EXPECT_TRUE(second.say("x"));
}

}  // namespace wide::net
