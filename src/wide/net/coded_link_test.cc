// Two links over loopback, on one thread: what one codes the other hears.

#include <gtest/gtest.h>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>

#include "wide/net/link.h"
#include "wide/net/steady.h"

namespace wide::net {
namespace {

using namespace std::chrono_literals;
using asio::ip::tcp;
using engine::LosslessPlan;

constexpr std::size_t kFragmentFloats = wire::kFragmentBytes / sizeof(float);

struct Ear final : LinkOwner {
  std::vector<wire::Message> messages;
  std::size_t wire_bytes = 0;
  std::size_t saved_here = 0;
  std::size_t saved_there = 0;
  int sent_count = 0;
  std::string error;

  void heard(Link&, Time) override {}
  void received(Link& link, wire::Message&& message, std::size_t bytes, Time) override {
    messages.push_back(std::move(message));
    wire_bytes += bytes;
    saved_there += link.last_message_saved();
  }
  void drained(Link&, Time) override {}
  void sent(Link&, Time) override { ++sent_count; }
  void broken(Link& link, const Error& why, Time) override {
    error = why.detail;
    link.fail(why);
  }
  void saved(Link&, std::size_t bytes) override { saved_here += bytes; }
};

wire::SharedPacket shared(wire::Message message) {
  return std::make_shared<const wire::Packet>(wire::encode(std::move(message)));
}

class CodedLink : public testing::Test {
 protected:
  void connect(std::size_t state_count, CodingCrewOptions crew = {}) {
    crew_.emplace(io_, buffers_, crew);
    tcp::acceptor acceptor(io_, {asio::ip::address_v4::loopback(), 0});
    tcp::socket caller(io_);
    caller.connect(acceptor.local_endpoint());
    LinkOptions options;
    options.limits.stranger = false;
    options.limits.state_count = state_count;
    near_ = std::make_shared<Link>(std::move(caller), options, buffers_, near_ear_, lookout_);
    far_ = std::make_shared<Link>(acceptor.accept(), options, buffers_, far_ear_, lookout_);
    asio::co_spawn(io_, Link::run(near_), asio::detached);
    asio::co_spawn(io_, Link::run(far_), asio::detached);
  }
  wire::SharedPacket snapshot(std::size_t count) {
    const Floats state = take_floats(buffers_, count);
    for (std::size_t i = 0; i < count; ++i) state.values[i] = static_cast<float>(i % 1000);
    return shared(wire::Snapshot{1, 2, {}, state});
  }
  bool run_until(const std::function<bool()>& is_so) {
    const Time until = steady_now() + 20s;
    while (!is_so() && steady_now() < until) io_.run_one_for(100ms);
    return is_so();
  }
  bool heard(const Ear& ear, std::size_t count) {
    return run_until([&] { return ear.messages.size() >= count || !ear.error.empty(); });
  }

  BufferPool buffers_;
  Ear near_ear_;
  Ear far_ear_;
  asio::io_context io_{1};
  Lookout lookout_{io_};
  asio::executor_work_guard<asio::io_context::executor_type> keep_{io_.get_executor()};
  std::shared_ptr<Link> near_;
  std::shared_ptr<Link> far_;
  std::optional<CodingCrew> crew_;
};

TEST_F(CodedLink, EveryCodecCarriesMessagesBothWays) {
  constexpr std::size_t kCount = 2 * kFragmentFloats + 5;
  connect(kCount);
  std::size_t told = 0;
  for (const auto plan : {LosslessPlan::kLz4, LosslessPlan::kZstd, LosslessPlan::kZlib,
                          LosslessPlan::kZlib9, LosslessPlan::kPlanes}) {
    near_->set_coding(*crew_, plan);
    far_->set_coding(*crew_, plan);
    near_->send(snapshot(kCount));
    near_->send(shared(wire::Want{7}));
    far_->send(snapshot(kCount));
    near_->flush();
    far_->flush();
    told += 2;

    ASSERT_TRUE(heard(far_ear_, told) && heard(near_ear_, told / 2)) << far_ear_.error;

    EXPECT_EQ(std::get<wire::Want>(far_ear_.messages.back()).leases, 7u);
    const auto& snapshot = std::get<wire::Snapshot>(near_ear_.messages.back());
    EXPECT_EQ(snapshot.state.values[kCount - 1], static_cast<float>((kCount - 1) % 1000));
    EXPECT_EQ(near_->queued_bytes(), 0u);
  }
  EXPECT_GT(near_ear_.saved_here, 0u);
  EXPECT_EQ(near_ear_.saved_here, far_ear_.saved_there);
  EXPECT_EQ(far_ear_.saved_here, near_ear_.saved_there);
  EXPECT_GT(near_->take_decode_span(), 0ns);
  EXPECT_GE(near_ear_.sent_count, 5) << "each time the codes were waited for";
}

TEST_F(CodedLink, ASlowCodecDoesNotHoldUpHeartbeats) {
  constexpr std::size_t kCount = 4 * kFragmentFloats;
  connect(kCount);
  near_->set_coding(*crew_, LosslessPlan::kZlib9);
  near_->send(snapshot(kCount));
  near_->send(shared(wire::Want{1}));
  near_->send(shared(wire::Heartbeat{9, {}}));
  near_->flush();

  ASSERT_TRUE(heard(far_ear_, 3)) << far_ear_.error;

  EXPECT_TRUE(std::holds_alternative<wire::Heartbeat>(far_ear_.messages[0]));
  EXPECT_TRUE(std::holds_alternative<wire::Snapshot>(far_ear_.messages[1]));
  EXPECT_TRUE(std::holds_alternative<wire::Want>(far_ear_.messages[2]));
}

TEST_F(CodedLink, LastWordsAreCodedAndSentBeforeTheEnd) {
  connect(kFragmentFloats);
  near_->set_coding(*crew_, LosslessPlan::kZlib);
  near_->send(snapshot(kFragmentFloats));
  near_->finish(10s);

  ASSERT_TRUE(heard(far_ear_, 1)) << far_ear_.error;
  EXPECT_TRUE(run_until([&] { return !far_->open(); })) << "it hangs up once all is said";
}

TEST_F(CodedLink, ALinkThatEndsMeanwhileIsLeftAlone) {
  connect(kFragmentFloats);
  near_->set_coding(*crew_, LosslessPlan::kZlib9);
  near_->send(snapshot(kFragmentFloats));
  near_->flush();
  near_->fail({Errc::kLinkLost, "enough"});

  EXPECT_TRUE(run_until([&] { return crew_->waiting_count() == 0; }));
  EXPECT_TRUE(far_ear_.messages.empty());
}

TEST_F(CodedLink, WhereTheCrewIsFarBehindMessagesGoAsTheyAre) {
  connect(3 * kFragmentFloats, {.threads = 1, .waiting_max = 1});
  near_->set_coding(*crew_, LosslessPlan::kZlib);
  near_->send(snapshot(3 * kFragmentFloats));
  near_->send(snapshot(3 * kFragmentFloats));
  near_->flush();

  ASSERT_TRUE(heard(far_ear_, 2)) << far_ear_.error;
  EXPECT_LT(near_ear_.saved_here, 3 * wire::kFragmentBytes) << "of the first alone";
}

}  // namespace
}  // namespace wide::net
