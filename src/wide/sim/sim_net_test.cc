#include "wide/sim/sim_net.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace wide::sim {
namespace {

using namespace std::chrono_literals;

// Notes down what it is told.
class Listener final : public LinkOwner {
 public:
  explicit Listener(Stage& stage) : stage_(stage) {}

  Time awake_at() const override { return asleep_until; }
  void opened(LinkId which, std::uint32_t tag) override {
    note(fmt::format("opened {}", tag), which);
  }
  void unanswered(std::uint32_t tag) override { note(fmt::format("unanswered {}", tag), {}); }
  void heard(LinkId) override { heard_at = stage_.now(); }
  void received(LinkId which, wire::Message message, std::size_t) override {
    if (const auto* want = std::get_if<wire::Want>(&message)) {
      note(fmt::format("want {}", want->leases), which);
    } else {
      note("hello", which);
    }
  }
  void broken(LinkId which, const Error&) override { note("broken", which); }
  void closed(LinkId which, const Error& why) override { note("closed: " + why.detail, which); }

  std::vector<std::string> told;
  LinkId last;
  Time told_at{};
  Time heard_at{};
  Time asleep_until{};

 private:
  void note(std::string what, LinkId which) {
    told.push_back(std::move(what));
    if (which.value != 0) last = which;
    told_at = stage_.now();
  }

  Stage& stage_;
};

struct Town {
  Stage stage{1};
  SimNet net;
  Listener node{stage};
  Listener pool{stage};

  explicit Town(NetOptions options = {}) : net(stage, options) { net.listen(&pool); }

  void run(Duration span = 20s) {
    const Time end = stage.now() + span;
    stage.queue.at(end, [] {});
    while (stage.now() < end) stage.queue.step();
  }
  // A link over which the pool may be told anything.
  LinkId connect() {
    net.dial(node, 0, 7);
    run(1s);
    net.set_limits(node.last, Side::kPool, wire::Limits::for_caller());
    return node.last;
  }
  void say(LinkId link, Side side, std::uint32_t leases) {
    net.send(link, side, std::make_shared<const wire::Packet>(wire::encode(wire::Want{leases})));
  }
};

using Lines = std::vector<std::string>;

TEST(SimNet, CarriesMessagesInOrder) {
  Town town;
  const LinkId link = town.connect();

  for (std::uint32_t i = 0; i < 5; ++i) town.say(link, Side::kNode, i);
  town.run();

  EXPECT_EQ(town.node.told, Lines{"opened 7"});
  EXPECT_EQ(town.pool.told, (Lines{"opened 0", "want 0", "want 1", "want 2", "want 3", "want 4"}));
}

TEST(SimNet, HandsOverByteByByte) {
  Town town;
  const LinkId link = town.connect();
  town.net.hand_over_singly(link);

  town.say(link, Side::kNode, 3);
  town.run();

  EXPECT_EQ(town.pool.told.back(), "want 3");
}

TEST(SimNet, TellsBothSidesOfAReset) {
  Town town;
  const LinkId link = town.connect();

  town.net.reset(link);
  town.run();

  EXPECT_EQ(town.node.told.back(), "closed: reset");
  EXPECT_EQ(town.pool.told.back(), "closed: reset");
  EXPECT_FALSE(town.net.is_open(link, Side::kNode));
}

TEST(SimNet, TellsNobodyThatAMachineIsGone) {
  Town town;
  const LinkId link = town.connect();

  town.net.vanish(link, Side::kNode);
  town.say(link, Side::kPool, 1);
  town.run();

  EXPECT_EQ(town.pool.told, Lines{"opened 0"});
  EXPECT_EQ(town.node.told, Lines{"opened 7"});
  EXPECT_TRUE(town.net.is_open(link, Side::kPool));
}

TEST(SimNet, BlocksOneWayAlone) {
  Town town;
  const LinkId link = town.connect();

  town.net.block(0, Side::kNode, town.stage.now() + 10s);
  town.say(link, Side::kNode, 1);
  town.say(link, Side::kPool, 2);
  town.run(5s);

  EXPECT_EQ(town.pool.told, Lines{"opened 0"});
  EXPECT_EQ(town.node.told.back(), "want 2");
  town.run(10s);
  EXPECT_EQ(town.pool.told.back(), "want 1");
}

TEST(SimNet, AnswersNoCallWhileAWayIsBlocked) {
  Town town;
  town.net.block(0, Side::kPool, 10s);

  town.net.dial(town.node, 0, 9);
  town.run(6s);

  EXPECT_EQ(town.node.told, Lines{"unanswered 9"});
  EXPECT_EQ(town.node.told_at, 5s);
}

TEST(SimNet, RefusesCallsWhereNobodyListens) {
  Town town;
  town.net.listen(nullptr);

  town.net.dial(town.node, 0, 9);
  town.run(1s);

  EXPECT_EQ(town.node.told, Lines{"unanswered 9"});
}

TEST(SimNet, SendsWhatIsQueuedBeforeItHangsUp) {
  Town town;
  const LinkId link = town.connect();

  town.say(link, Side::kPool, 5);
  town.net.finish(link, Side::kPool, 2s);
  town.say(link, Side::kNode, 6);
  town.run();

  EXPECT_EQ(town.node.told, (Lines{"opened 7", "want 5", "closed: the other side hung up"}));
  EXPECT_EQ(town.pool.told, (Lines{"opened 0", "closed: the other side hung up"}))
      << "what comes after the last word is not read";
}

TEST(SimNet, TellsAProcessThatWasStoppedLater) {
  Town town;
  const LinkId link = town.connect();

  town.pool.asleep_until = town.stage.now() + 8s;
  town.say(link, Side::kNode, 4);
  town.run(5s);
  EXPECT_EQ(town.pool.told, Lines{"opened 0"});
  town.run(5s);

  EXPECT_EQ(town.pool.told.back(), "want 4");
}

TEST(SimNet, GivesUpOnWhoDoesNotRead) {
  Town town({.window_bytes = 512, .outbox_bytes_max = 2048});
  const LinkId link = town.connect();
  town.net.read_slowly(link, Side::kNode, 1);

  for (std::uint32_t i = 0; i < 100; ++i) town.say(link, Side::kPool, i);
  town.run();

  EXPECT_EQ(town.pool.told.back(), "closed: it reads too slowly");
  EXPECT_LE(town.net.queued_bytes_most(), 2 * 2048u);
}

TEST(SimNet, FlipsABitThatTheFrameNotices) {
  Town town;
  const LinkId link = town.connect();

  town.net.flip_next(link, Side::kNode);
  town.say(link, Side::kNode, 1);
  town.run();

  EXPECT_EQ(town.pool.told.back(), "broken");
  EXPECT_TRUE(town.net.tampered(link));
}

TEST(SimNet, SwallowsEverything) {
  Town town;
  const LinkId link = town.connect();

  town.net.swallow(link);
  town.say(link, Side::kNode, 1);
  town.net.fail(link, Side::kNode);
  town.run();

  EXPECT_EQ(town.pool.told, Lines{"opened 0"});
}

}  // namespace
}  // namespace wide::sim
