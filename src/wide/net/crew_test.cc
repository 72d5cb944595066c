#include "wide/net/crew.h"

#include <gtest/gtest.h>

#include <future>
#include <latch>
#include <set>

namespace wide::net {

namespace {

// Says when a unit has begun, and takes until it is let go.
class GatedComputer final : public engine::UnitComputer {
 public:
  explicit GatedComputer(std::atomic<int>& begun, std::shared_future<void> gate)
      : begun_(begun), gate_(std::move(gate)) {}

  double gradient(const engine::Weights&, Step, Unit, std::span<float>) override {
    ++begun_;
    begun_.notify_all();
    gate_.wait();
    return 0;
  }
  engine::EvalOutcome evaluate(const engine::Weights&, std::uint64_t, std::uint64_t) override {
    return {};
  }

 private:
  std::atomic<int>& begun_;
  std::shared_future<void> gate_;
};

Crew::Computers computers(int count, std::atomic<int>& begun, std::shared_future<void> gate) {
  Crew::Computers made;
  for (int i = 0; i < count; ++i) made.push_back(std::make_unique<GatedComputer>(begun, gate));
  return made;
}

std::shared_future<void> open_gate() {
  std::promise<void> gate;
  gate.set_value();
  return gate.get_future().share();
}

}  // namespace

TEST(Crew, DoesEveryTaskOnce) {
  std::atomic<int> begun = 0;
  std::atomic<int> done = 0;
  std::latch all(100);
  Crew crew(computers(3, begun, open_gate()));

  for (int i = 0; i < 100; ++i) {
    crew.submit([&](engine::UnitComputer& computer) {
      computer.gradient(nullptr, 0, 0, {});
      ++done;
      all.count_down();
    });
  }
  all.wait();

  EXPECT_EQ(done, 100);
  EXPECT_EQ(begun, 100);
}

TEST(Crew, GivesEachSlotItsOwnShareOfAMeasurement) {
  std::atomic<int> begun = 0;
  std::mutex mutex;
  std::set<engine::UnitComputer*> seen;
  std::set<std::thread::id> threads;
  std::latch all(4);
  Crew crew(computers(4, begun, open_gate()));

  crew.submit_each([&](engine::UnitComputer& computer) {
    const std::lock_guard lock(mutex);
    seen.insert(&computer);
    threads.insert(std::this_thread::get_id());
    all.count_down();
  });
  all.wait();

  const std::lock_guard lock(mutex);
  EXPECT_EQ(seen.size(), 4u);
  EXPECT_EQ(threads.size(), 4u);
}

TEST(Crew, StopsAfterTheUnitAtHand) {
  std::atomic<int> begun = 0;
  std::promise<void> gate;
  auto crew = std::make_unique<Crew>(computers(1, begun, gate.get_future().share()));
  crew->submit([](engine::UnitComputer& computer) {
    for (;;) computer.gradient(nullptr, 0, 0, {});
  });
  begun.wait(0);

  auto stopped = std::async(std::launch::async, [&] { crew.reset(); });
  gate.set_value();
  stopped.get();

  EXPECT_GE(begun, 1);
}

}  // namespace wide::net
