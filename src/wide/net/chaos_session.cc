#include "wide/net/chaos_session.h"

#include <asio/buffer.hpp>
#include <asio/co_spawn.hpp>
#include <asio/error.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>

#include "wide/net/rethrow.h"
#include "wide/net/steady.h"
#include "wide/net/tcp_options.h"

namespace wide::net {

using asio::ip::tcp;

namespace {

constexpr std::size_t kReadBytes = 16 << 10;
constexpr std::size_t kUnderWayBytesMax = 4 << 20;
constexpr auto kWaitMost = std::chrono::seconds(1);  // a wait that nobody ends is begun anew
constexpr auto kFarewellMost = std::chrono::seconds(2);

}  // namespace

ChaosSession::Lane::Lane(tcp::socket& origin, tcp::socket& sink, ChaosPlan chaos,
                         std::uint64_t& count)
    : from(origin),
      to(sink),
      plan(std::move(chaos)),
      byte_count(count),
      arrived(origin.get_executor()),
      room(origin.get_executor()),
      due(origin.get_executor()) {}

ChaosSession::ChaosSession(tcp::socket caller, tcp::socket target, const ChaosOptions& options,
                           std::uint64_t number, ChaosCounts& counts)
    : counts_(counts),
      caller_(std::move(caller)),
      target_(std::move(target)),
      lanes_{Lane(caller_, target_, ChaosPlan(options, number, Direction::kUp, steady_now()),
                  counts.bytes_up),
             Lane(target_, caller_, ChaosPlan(options, number, Direction::kDown, steady_now()),
                  counts.bytes_down)},
      farewell_(caller_.get_executor()) {
  set_tcp_options(caller_.native_handle(), {});
  set_tcp_options(target_.native_handle(), {});
}

void ChaosSession::start(asio::io_context& io) {
  for (const Direction direction : {Direction::kUp, Direction::kDown}) {
    asio::co_spawn(io, read_loop(shared_from_this(), direction), rethrow);
    asio::co_spawn(io, write_loop(shared_from_this(), direction), rethrow);
  }
}

// --- Reading
// --------------------------------------------------------------------------------------

asio::awaitable<void> ChaosSession::read_loop(Self self, Direction direction) {
  Lane& lane = self->lane(direction);
  std::vector<std::byte> scratch(kReadBytes);
  std::error_code failed;
  while (self->open_ && lane.source == Source::kOpen) {
    const std::size_t count = co_await lane.from.async_read_some(
        asio::buffer(scratch), asio::redirect_error(asio::use_awaitable, failed));
    if (failed) {
      lane.source = failed == asio::error::eof ? Source::kEnded : Source::kLost;
    } else if (!lane.discarding) {
      self->arrive(lane, std::span(scratch).first(count));
      co_await wait_for_room(self, direction);
    }
  }
  lane.arrived.cancel();
  self->close_when_over();
}

void ChaosSession::arrive(Lane& lane, std::span<const std::byte> bytes) {
  ChaosBatch batch = lane.plan.take(bytes, steady_now());
  lane.discarding = lane.plan.ended();
  lane.queued_bytes += batch.bytes.size();
  lane.queue.push_back(std::move(batch));
  lane.arrived.cancel();
}

asio::awaitable<void> ChaosSession::wait_for_room(Self self, Direction direction) {
  Lane& lane = self->lane(direction);
  std::error_code ignored;
  while (self->open_ && !lane.discarding && lane.queued_bytes > kUnderWayBytesMax) {
    lane.room.expires_after(kWaitMost);
    co_await lane.room.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
}

// --- Writing
// --------------------------------------------------------------------------------------

asio::awaitable<void> ChaosSession::write_loop(Self self, Direction direction) {
  Lane& lane = self->lane(direction);
  std::error_code ignored;
  while (self->open_ && !lane.over) {
    if (!lane.queue.empty()) {
      ChaosBatch batch = std::move(lane.queue.front());
      lane.queue.pop_front();
      co_await send(self, direction, std::move(batch));
    } else if (lane.source == Source::kEnded) {
      self->half_close(lane);
    } else if (lane.source == Source::kLost) {
      self->reset();
    } else {
      lane.arrived.expires_after(kWaitMost);
      co_await lane.arrived.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    }
  }
  self->close_when_over();
}

asio::awaitable<void> ChaosSession::send(Self self, Direction direction, ChaosBatch batch) {
  Lane& lane = self->lane(direction);
  auto mark = batch.marks.begin();
  std::size_t begin = 0;
  for (const auto& piece : batch.pieces) {
    const auto bytes = std::span(batch.bytes).subspan(begin, piece.end - begin);
    if (!co_await send_piece(self, direction, bytes, piece.due)) co_return;
    begin = piece.end;
    for (; mark != batch.marks.end() && mark->at <= begin; ++mark) {
      self->carry_out(lane, mark->fault);
    }
  }
}

// False: nothing more is to be written.
asio::awaitable<bool> ChaosSession::send_piece(Self self, Direction direction,
                                               std::span<const std::byte> bytes, Time due) {
  Lane& lane = self->lane(direction);
  std::error_code failed;
  while (self->open_ && !lane.over && steady_now() < due) {
    lane.due.expires_at(time_point(due));
    co_await lane.due.async_wait(asio::redirect_error(asio::use_awaitable, failed));
  }
  if (!self->open_ || lane.over) co_return false;
  co_await asio::async_write(lane.to, asio::buffer(bytes.data(), bytes.size()),
                             asio::redirect_error(asio::use_awaitable, failed));
  if (!self->open_ || lane.over) co_return false;
  if (failed) {
    self->reset();  // who sends to somebody that is gone is told so
    co_return false;
  }
  lane.byte_count += bytes.size();
  lane.queued_bytes -= bytes.size();
  lane.room.cancel();
  co_return true;
}

// --- Ends
// -----------------------------------------------------------------------------------------

void ChaosSession::carry_out(Lane& lane, Fault fault) {
  ++counts_.faults[static_cast<std::size_t>(fault)];
  if (fault == Fault::kTruncate) finish();
  if (fault == Fault::kHalfClose) half_close(lane);
  if (fault == Fault::kReset) reset();
}

void ChaosSession::half_close(Lane& lane) {
  lane.over = true;
  lane.discarding = true;
  std::error_code ignored;
  lane.to.shutdown(tcp::socket::shutdown_send, ignored);
}

// A FIN to both; then what they still send is swallowed, for closing unread would be a reset.
void ChaosSession::finish() {
  for (auto& lane : lanes_) half_close(lane);
  wake_all();
  close_when_over();
}

void ChaosSession::close_when_over() {
  if (!open_ || !lanes_[0].over || !lanes_[1].over) return;
  if (lanes_[0].source != Source::kOpen && lanes_[1].source != Source::kOpen) return close();
  if (finishing_) return;
  finishing_ = true;
  farewell_.expires_after(kFarewellMost);
  farewell_.async_wait([self = shared_from_this()](const std::error_code& cancelled) {
    if (!cancelled) self->close();
  });
}

void ChaosSession::reset() {
  std::error_code ignored;
  const asio::socket_base::linger at_once(true, 0);
  for (tcp::socket* socket : {&caller_, &target_}) socket->set_option(at_once, ignored);
  close();
}

void ChaosSession::close() {
  if (!open_) return;
  open_ = false;
  std::error_code ignored;
  for (tcp::socket* socket : {&caller_, &target_}) socket->close(ignored);
  farewell_.cancel();
  wake_all();
}

void ChaosSession::wake_all() {
  for (auto& lane : lanes_) {
    lane.arrived.cancel();
    lane.room.cancel();
    lane.due.cancel();
  }
}

}  // namespace wide::net
