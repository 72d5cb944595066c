#pragma once
// One connection through a bad network: two sockets, and in each direction a loop that reads and
// one that writes, with what is under way between them.
//
//   caller ──read──▶ plan ──batches──▶ write──▶ target     up
//   caller ◀──write ◀──batches── plan ◀──read── target     down
//
// What is under way is bounded: a loop that reads waits while there is too much of it.

#include <array>
#include <cstdint>
#include <deque>
#include <memory>

#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>

#include "wide/net/chaos_plan.h"

namespace wide::net {

// What was carried out, not what was planned.
struct ChaosCounts {
  std::uint64_t connections = 0;
  std::uint64_t dials_failed = 0;
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
  std::array<std::uint64_t, kFaultCount> faults{};

  std::uint64_t of(Fault fault) const { return faults[static_cast<std::size_t>(fault)]; }
};

class ChaosSession final : public std::enable_shared_from_this<ChaosSession> {
 public:
  // `counts` outlives it.
  ChaosSession(asio::ip::tcp::socket caller, asio::ip::tcp::socket target,
               const ChaosOptions& options, std::uint64_t number, ChaosCounts& counts);

  void start(asio::io_context& io);  // its loops hold it from here on
  void reset();                      // both ends see a reset

 private:
  enum class Source { kOpen, kEnded, kLost };
  struct Lane {
    Lane(asio::ip::tcp::socket& origin, asio::ip::tcp::socket& sink, ChaosPlan chaos,
         std::uint64_t& count);

    asio::ip::tcp::socket& from;
    asio::ip::tcp::socket& to;
    ChaosPlan plan;
    std::uint64_t& byte_count;
    asio::steady_timer arrived;  // cancelled when there is something to write, or no more will come
    asio::steady_timer room;     // cancelled when there is room for more
    asio::steady_timer due;
    std::deque<ChaosBatch> queue;
    std::size_t queued_bytes = 0;
    Source source = Source::kOpen;
    bool discarding = false;  // what still comes is read and dropped
    bool over = false;        // nothing more will be written
  };
  using Self = std::shared_ptr<ChaosSession>;

  static asio::awaitable<void> read_loop(Self self, Direction direction);
  static asio::awaitable<void> write_loop(Self self, Direction direction);
  static asio::awaitable<void> wait_for_room(Self self, Direction direction);
  static asio::awaitable<void> send(Self self, Direction direction, ChaosBatch batch);
  static asio::awaitable<bool> send_piece(Self self, Direction direction,
                                          std::span<const std::byte> bytes, Time due);

  Lane& lane(Direction direction) { return lanes_[static_cast<std::size_t>(direction)]; }
  void arrive(Lane& lane, std::span<const std::byte> bytes);
  void carry_out(Lane& lane, Fault fault);
  void half_close(Lane& lane);
  void finish();
  void close_when_over();
  void close();
  void wake_all();

  ChaosCounts& counts_;
  asio::ip::tcp::socket caller_;
  asio::ip::tcp::socket target_;
  std::array<Lane, 2> lanes_;
  asio::steady_timer farewell_;
  bool open_ = true;
  bool finishing_ = false;
};

}  // namespace wide::net
