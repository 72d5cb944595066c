#include "wide/net/lookout.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <chrono>
#include <functional>
#include <string>

#include "wide/store/descriptor.h"

namespace wide::net {
namespace {

using namespace std::chrono_literals;
using store::Descriptor;

// Two ends of a stream on this machine.
struct Pair {
  Pair() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    near = Descriptor(ends[0]);
    far = Descriptor(ends[1]);
  }
  void say(const std::string& words) const {
    EXPECT_EQ(::send(far.number(), words.data(), words.size(), 0), ssize_t(words.size()));
  }

  Descriptor near;
  Descriptor far;
};

struct Ear final : Watched {
  void readable() override {
    ++told_count;
    char letters[4];  // fewer than are said at once
    const auto count = ::recv(socket, letters, sizeof letters, 0);
    if (count > 0) heard.append(letters, static_cast<std::size_t>(count));
    if (count == 0) gone = true;
    if (then) then();
  }
  void writable() override { ++room_count; }

  int socket = -1;
  int told_count = 0;
  int room_count = 0;
  bool gone = false;
  std::string heard;
  std::function<void()> then;
};

class LookoutTest : public testing::Test {
 protected:
  void watch(const Pair& pair, Ear& ear) {
    ear.socket = pair.near.number();
    ASSERT_TRUE(lookout_.watch(ear.socket, ear));
  }
  // At most so many handlers: a test that waits for ever fails.
  void run_until(const std::function<bool()>& is_so) {
    for (int i = 0; i < 100 && !is_so(); ++i) io_.run_one_for(1s);
    EXPECT_TRUE(is_so());
  }

  asio::io_context io_{1};
  int after_count_ = 0;
  Lookout lookout_{io_, [this] { ++after_count_; }};
};

TEST_F(LookoutTest, TellsAgainUntilEverythingIsRead) {
  Pair pair;
  Ear ear;
  watch(pair, ear);

  pair.say("more than four letters");

  run_until([&] { return ear.heard == "more than four letters"; });
}

TEST_F(LookoutTest, TellsAllWhoAreReadyBeforeWhatComesAfter) {
  Pair pairs[3];
  Ear ears[3];
  for (int i = 0; i < 3; ++i) watch(pairs[i], ears[i]);
  for (const auto& pair : pairs) pair.say("hm");

  run_until([&] { return after_count_ > 0; });

  EXPECT_EQ(after_count_, 1);
  for (const auto& ear : ears) EXPECT_EQ(ear.heard, "hm");
}

TEST_F(LookoutTest, TellsOfAPeerThatIsGone) {
  Pair pair;
  Ear ear;
  watch(pair, ear);

  pair.far = Descriptor();

  run_until([&] { return ear.gone; });
}

TEST_F(LookoutTest, SaysNoToWhatCannotBeWatched) {
  Ear ear;

  const auto watched = lookout_.watch(-1, ear);

  ASSERT_FALSE(watched);
  EXPECT_EQ(watched.error().code, Errc::kMachine);
  EXPECT_EQ(io_.run_for(10s), 0u) << "nobody is waited for";
}

TEST_F(LookoutTest, TellsOfRoomOnlyThoseWhoAskForIt) {
  Pair pair;
  Ear ear;
  watch(pair, ear);
  pair.say("hm");
  run_until([&] { return ear.heard == "hm"; });
  EXPECT_EQ(ear.room_count, 0);

  lookout_.watch_for(Lookout::For::kBytesAndRoom, ear.socket, ear);
  run_until([&] { return ear.room_count > 0; });

  lookout_.watch_for(Lookout::For::kBytes, ear.socket, ear);
  const int told = ear.room_count;
  pair.say("hm");
  run_until([&] { return ear.heard == "hmhm"; });
  EXPECT_EQ(ear.room_count, told);
}

TEST_F(LookoutTest, OneWhoIsToldMayMakeAnotherForgotten) {
  Pair pairs[2];
  Ear ears[2];
  for (int i = 0; i < 2; ++i) {
    watch(pairs[i], ears[i]);
    ears[i].then = [&, other = 1 - i] {
      if (ears[0].told_count + ears[1].told_count == 1) lookout_.forget(ears[other].socket);
    };
  }
  for (const auto& pair : pairs) pair.say("hm");

  run_until([&] { return after_count_ > 0; });
  for (const auto& pair : pairs) pair.say("hm");
  run_until([&] { return ears[0].heard.size() + ears[1].heard.size() >= 6; });

  // Both were ready in the first look; of what came later only one was told.
  EXPECT_EQ(std::min(ears[0].heard.size(), ears[1].heard.size()), 2u);
}

TEST_F(LookoutTest, TellsNobodyOnceHalted) {
  Pair pairs[2];
  Ear ears[2];
  for (int i = 0; i < 2; ++i) {
    watch(pairs[i], ears[i]);
    ears[i].then = [&] { lookout_.halt(); };
    pairs[i].say("hm");
  }

  run_until([&] { return after_count_ > 0; });

  EXPECT_EQ(ears[0].told_count + ears[1].told_count, 1);
}

TEST_F(LookoutTest, KeepsTheLoopGoingOnlyWhileSomebodyIsWatched) {
  Pair pair;
  Ear ear;
  watch(pair, ear);
  lookout_.forget(ear.socket);
  ASSERT_TRUE(lookout_.watch(ear.socket, ear));
  pair.say("hm");
  run_until([&] { return ear.heard == "hm"; });

  lookout_.forget(ear.socket);

  EXPECT_EQ(io_.run_for(10s), 1u) << "the wait that was cancelled, and the end";
  EXPECT_TRUE(io_.stopped());
}

}  // namespace
}  // namespace wide::net
