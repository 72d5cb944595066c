#include "wide/net/kin_table.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <deque>
#include <map>
#include <set>
#include <thread>

#include "wide/base/digest.h"
#include "wide/net/steady.h"

namespace wide::net {
namespace {

constexpr std::size_t kValues = 100;
constexpr Block kBlocks = 10;

class KinTableTest : public ::testing::Test {
 protected:
  KinTableTest() {
    for (KinSeat* seat : {&holder_, &friend_}) seat->sit_down(kValues, kBlocks, 1);
  }

  engine::Weights weights(float value) {
    auto made = std::make_shared<engine::WeightsVersion>();
    made->values = take_floats(buffers_, kValues);
    std::ranges::fill(made->values.values, value);
    return made;
  }
  static wire::Lease lease(Step step, Block blocks = kBlocks) {
    wire::Lease lease;
    lease.step = step;
    lease.first_block = 20;
    lease.block_count = blocks;
    return lease;
  }
  // What a block comes to: a function of all that the task says.
  static engine::BlockValue computed(float weight, Step step, Block block, BufferPool& buffers) {
    engine::BlockValue made;
    made.value.sum = take_floats(buffers, kValues);
    const float value = weight * 1000 + static_cast<float>(step % 100) * 10 + float(block);
    std::ranges::fill(made.value.sum.values, value);
    made.value.loss_sum = value;
    made.sha256 = sha256(made.value.sum.bytes());
    return made;
  }
  static engine::BlockValue computed(const KinSeat::Task& task, BufferPool& buffers) {
    return computed(task.weights->values.values[0], task.step, task.block, buffers);
  }
  static bool is(const engine::BlockValue& got, float weight, Step step, Block block) {
    BufferPool buffers;
    const auto wanted = computed(weight, step, block, buffers);
    return got.sha256 == wanted.sha256 && got.value.loss_sum == wanted.value.loss_sum &&
           sha256(got.value.sum.bytes()) == wanted.sha256;
  }

  BufferPool buffers_;
  KinTable table_{2};
  KinSeat holder_{table_, 0, 2};
  KinSeat friend_{table_, 1, 2};
};

TEST_F(KinTableTest, MeetsInTheMiddle) {
  engine::Kin& kin = holder_.call(lease(5), weights(2));

  EXPECT_EQ(kin.take(), Block{0});
  auto task = friend_.next_task(false, buffers_);
  ASSERT_TRUE(task);
  EXPECT_EQ(task->place, 9u);
  EXPECT_EQ(task->block, 29u);
  EXPECT_EQ(task->step, 5u);
  EXPECT_EQ(task->weights->values.values[99], 2.0f);
  EXPECT_FALSE(kin.has_come(9));
  friend_.hand_over(*task, computed(*task, buffers_));
  for (Block block = 1; block < 9; ++block) EXPECT_EQ(kin.take(), block);

  EXPECT_EQ(kin.take(), std::nullopt);
  EXPECT_FALSE(friend_.next_task(true, buffers_));
  EXPECT_TRUE(kin.has_come(9));
  const auto got = kin.collect(9, buffers_);
  ASSERT_TRUE(got);
  EXPECT_TRUE(is(*got, 2, 5, 29));
}

TEST_F(KinTableTest, WaitsForABlockOnlyForAWhile) {
  engine::Kin& kin = holder_.call(lease(0), weights(1));
  ASSERT_TRUE(friend_.next_task(false, buffers_));

  EXPECT_FALSE(kin.collect(9, buffers_)) << "it may be dead";
}

TEST_F(KinTableTest, HasTwoCallsAtATimeAndTheOlderIsServedFirst) {
  engine::Kin& first = holder_.call(lease(0, 2), weights(1));
  engine::Kin& second = holder_.call(lease(1, 2), weights(2));

  for (const auto& [step, place] : {std::pair<Step, Block>{0, 1}, {0, 0}, {1, 1}, {1, 0}}) {
    const auto task = friend_.next_task(false, buffers_);
    ASSERT_TRUE(task);
    EXPECT_EQ(task->step, step);
    EXPECT_EQ(task->place, place);
    friend_.hand_over(*task, computed(*task, buffers_));
  }

  EXPECT_TRUE(is(*first.collect(1, buffers_), 1, 0, 21));
  EXPECT_TRUE(is(*second.collect(1, buffers_), 2, 1, 21));
  EXPECT_TRUE(is(*first.collect(0, buffers_), 1, 0, 20));
  EXPECT_TRUE(is(*second.collect(0, buffers_), 2, 1, 20));
}

TEST_F(KinTableTest, TakesNothingThatBelongsToAnEarlierCall) {
  holder_.call(lease(0, 1), weights(1));
  const auto late = friend_.next_task(false, buffers_);
  ASSERT_TRUE(late);
  holder_.call(lease(1, 1), weights(2));
  ASSERT_TRUE(friend_.next_task(false, buffers_));
  engine::Kin& kin = holder_.call(lease(2, 1), weights(3));  // on the first one's sheet
  const auto present = friend_.next_task(false, buffers_);
  ASSERT_TRUE(present);
  ASSERT_EQ(present->place, late->place);

  friend_.hand_over(*late, computed(*late, buffers_));
  EXPECT_FALSE(kin.collect(0, buffers_));
  friend_.hand_over(*present, computed(*present, buffers_));

  const auto got = kin.collect(0, buffers_);
  ASSERT_TRUE(got);
  EXPECT_TRUE(is(*got, 3, 2, 20));
}

// Without a delay there is one call at a time: a drawer for each of its blocks is enough.
TEST_F(KinTableTest, LosesNothingOfACallThatOneHelpsWithAlone) {
  for (const std::size_t values : {std::size_t{1}, std::size_t{17}, std::size_t{100'001}}) {
    for (KinSeat* seat : {&holder_, &friend_}) seat->sit_down(values, kBlocks, 0);
    for (Step step = 0; step < 3; ++step) {
      auto made = std::make_shared<engine::WeightsVersion>();
      made->values = take_floats(buffers_, values);
      for (std::size_t i = 0; i < values; ++i) made->values.values[i] = float(i + step);
      engine::Kin& kin = holder_.call(lease(step), made);
      std::map<Block, Digest> sent;
      while (const auto task = friend_.next_task(false, buffers_)) {
        engine::BlockValue block;
        block.value.sum = take_floats(buffers_, values);
        for (std::size_t i = 0; i < values; ++i) {
          block.value.sum.values[i] = task->weights->values.values[i] + float(task->place);
        }
        sent[task->place] = sha256(block.value.sum.bytes());
        friend_.hand_over(*task, block);
      }
      ASSERT_EQ(sent.size(), kBlocks);
      for (const auto& [place, digest] : sent) {
        const auto got = kin.collect(place, buffers_);
        ASSERT_TRUE(got) << place;
        EXPECT_EQ(sha256(got->value.sum.bytes()), digest) << values << " values, block " << place;
        EXPECT_EQ(got->helper, friend_.number());
      }
    }
  }
}

TEST_F(KinTableTest, NoticesADrawerThatWasFilledAnew) {
  engine::Kin& kin = holder_.call(lease(0), weights(1));
  const auto task = friend_.next_task(false, buffers_);
  const auto value = computed(*task, buffers_);
  friend_.hand_over(*task, value);
  KinSeat::Task other = *task;
  other.call += 2;
  for (int i = 0; i < 1000; ++i) friend_.hand_over(other, value);

  EXPECT_FALSE(kin.collect(task->place, buffers_));
}

TEST_F(KinTableTest, CallsNoMoreThanCanComputeAtOnce) {
  KinTable table(4);
  std::deque<KinSeat> seats;
  for (unsigned i = 0; i < 4; ++i) seats.emplace_back(table, i, 3).sit_down(kValues, kBlocks, 1);
  seats[3].call(lease(0), weights(1));

  EXPECT_TRUE(seats[0].next_task(false, buffers_));
  EXPECT_TRUE(seats[1].next_task(false, buffers_));
  EXPECT_FALSE(seats[2].next_task(false, buffers_)) << "three cores: the holder and two";
  EXPECT_TRUE(seats[2].next_task(true, buffers_)) << "but who is at work anyway may";
}

TEST_F(KinTableTest, CallsOneMoreWhereNobodyComes) {
  KinTable table(3);
  std::deque<KinSeat> seats;
  for (unsigned i = 0; i < 3; ++i) seats.emplace_back(table, i, 2).sit_down(kValues, kBlocks, 1);
  seats[0].call(lease(0), weights(1));
  EXPECT_FALSE(seats[2].next_task(false, buffers_));

  for (Step step = 1; step < 200; ++step) seats[0].call(lease(step), weights(1));

  EXPECT_TRUE(seats[2].next_task(false, buffers_)) << "its neighbour may be gone";
}

TEST_F(KinTableTest, RingsForWhoeverSleepsOnce) {
  const auto rung = [&] {
    pollfd bell{friend_.bell(), POLLIN, 0};
    return poll(&bell, 1, 0) == 1;
  };
  holder_.call(lease(0), weights(1));
  EXPECT_FALSE(rung()) << "it looks by itself";
  friend_.fall_asleep();

  holder_.call(lease(1), weights(1));

  EXPECT_TRUE(rung());
  std::uint64_t count = 0;
  ASSERT_EQ(read(friend_.bell(), &count, sizeof count), 8);
  holder_.call(lease(2), weights(1));
  EXPECT_FALSE(rung()) << "it has been told";
}

// Whoever is killed in the middle of a call, and starts again on the same seat.
TEST_F(KinTableTest, BeginsAnewOnASeatThatSomebodyLeft) {
  holder_.call(lease(0), weights(1));
  const auto claimed = friend_.next_task(false, buffers_);
  KinSeat reborn(table_, 0, 2);
  reborn.sit_down(kValues, kBlocks, 1);

  EXPECT_FALSE(friend_.next_task(true, buffers_)) << "that call is over";
  engine::Kin& kin = reborn.call(lease(1), weights(3));
  friend_.hand_over(*claimed, computed(*claimed, buffers_));
  EXPECT_FALSE(kin.collect(9, buffers_));
  const auto task = friend_.next_task(false, buffers_);
  ASSERT_TRUE(task);
  EXPECT_EQ(task->weights->values.values[0], 3.0f) << "not what it had copied before";
}

// Everybody holds and helps at once; whatever comes is right.
TEST_F(KinTableTest, GivesTheRightBitsInAnyRace) {
  constexpr unsigned kSeats = 3;
  constexpr Step kCalls = 400;
  KinTable table(kSeats);
  std::atomic<unsigned> holding = kSeats;
  std::atomic<std::uint64_t> collected = 0;
  std::atomic<std::uint64_t> wrong = 0;
  const auto live = [&](unsigned index) {
    BufferPool buffers;
    KinSeat seat(table, index, kSeats);
    seat.sit_down(kValues, kBlocks, 1);
    const auto help = [&] {
      const auto task = seat.next_task(true, buffers);
      if (task) seat.hand_over(*task, computed(*task, buffers));
    };
    const float weight = float(index + 1);
    auto made = std::make_shared<engine::WeightsVersion>();
    made->values = take_floats(buffers, kValues);
    std::ranges::fill(made->values.values, weight);
    struct Called {
      engine::Kin* kin;
      std::set<Block> own;
      void take() {
        while (const auto place = kin->take()) {
          own.insert(*place);
          std::this_thread::yield();
        }
      }
    };
    std::deque<Called> called{{&seat.call(lease(0), made), {}}};
    for (Step step = 0; step < kCalls; ++step) {
      called.push_back({&seat.call(lease(step + 1), made), {}});
      Called& present = called.front();
      present.take();
      for (Block place = 0; place < kBlocks; ++place) {
        if (present.own.contains(place)) continue;
        const auto got = present.kin->collect(place, buffers);
        if (!got) continue;
        ++collected;
        if (!is(*got, weight, step, 20 + place)) ++wrong;
      }
      called.pop_front();
      help();
    }
    --holding;
    while (holding > 0) help();
  };

  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kSeats; ++i) threads.emplace_back(live, i);
  for (auto& thread : threads) thread.join();

  EXPECT_EQ(wrong, 0u);
  EXPECT_GT(collected, 0u);
}

// What they share is memory of several processes, one of which is killed again and again.
TEST(KinOfAFork, OutlivesWhoeverIsKilled) {
  constexpr int kLives = 5;
  KinTable table(2);
  KinSeat holder(table, 0, 2);
  holder.sit_down(kValues, kBlocks, 1);
  BufferPool buffers;
  Step step = 0;
  for (int life = 0; life < kLives; ++life) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      KinSeat helper(table, 1, 2);
      helper.sit_down(kValues, kBlocks, 1);
      for (;;) {
        const auto task = helper.next_task(true, buffers);
        if (!task) continue;
        engine::BlockValue made;
        made.value.sum = take_floats(buffers, kValues);
        std::ranges::fill(made.value.sum.values, float(task->block));
        helper.hand_over(*task, made);
      }
    }
    int helped = 0;
    const Time end = steady_now() + std::chrono::seconds(20);
    while (helped < 50 && steady_now() < end) {
      auto made = std::make_shared<engine::WeightsVersion>();
      made->values = take_floats(buffers, kValues);
      std::ranges::fill(made->values.values, 1.0f);
      wire::Lease lease;
      lease.step = step++;
      lease.block_count = 4;
      engine::Kin& kin = holder.call(lease, made);
      kin.take();
      for (Block place = 1; place < 4; ++place) {
        const auto got = kin.collect(place, buffers);
        if (!got) continue;
        ++helped;
        EXPECT_EQ(got->value.sum.values[0], float(place));
      }
    }
    EXPECT_GE(helped, 50) << "life " << life;
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
}

}  // namespace
}  // namespace wide::net
