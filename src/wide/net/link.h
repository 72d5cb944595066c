#pragma once
// One TCP connection between a pool and a node or a caller: a socket, the reader that makes
// messages of its bytes, and the queue of what waits to be sent.
//
//   readable ─▶ read until the kernel has no more ─▶ received() per message ─▶ drained()
//   send(packet) … send(packet) ─▶ flush(): one gathered write, at once; only where the kernel is
//                                  full does the link wait for room
//   set_coding(): from then on large messages may be coded first, by a crew of other threads; their
//                 fragments leave as they are ready, heartbeats pass them
//
// It ends in one of three ways: the peer hangs up; fail() closes at once; finish() stops listening,
// sends what is queued, waits for the peer to hang up (closing earlier could destroy what it has
// not read yet), and closes after `patience` in any case. why() then says how.
//
// Used on the I/O thread alone. Kept alive by run(), which ends behind what the lookout is telling:
// whoever wants a link gone says fail(), and lets run() end.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <asio/awaitable.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>

#include "wide/base/clock.h"
#include "wide/engine/job.h"
#include "wide/net/link_coding.h"
#include "wide/net/lookout.h"
#include "wide/store/descriptor.h"
#include "wide/wire/frame_reader.h"
#include "wide/wire/frame_writer.h"

namespace wide::net {

class Link;

// Whom a link tells what it hears. Any of these may call send(), flush(), finish() and fail().
class LinkOwner {
 public:
  virtual void heard(Link& link, Time now) = 0;  // bytes came, but no message is whole yet
  virtual void received(Link& link, wire::Message&& message, std::size_t wire_bytes, Time now) = 0;
  virtual void drained(Link& link, Time now) = 0;  // all that had come is handed over
  // Everything queued is with the kernel, after it had to wait for room.
  virtual void sent(Link& link, Time now) = 0;
  // The bytes make no sense. Must finish() or fail() the link: nothing more is read from it.
  virtual void broken(Link& link, const Error& why, Time now) = 0;
  // Messages were cut down by codes on their way out, so many bytes in all since last told.
  virtual void saved(Link&, std::size_t) {}
  // Another codec from now on, by what was measured.
  virtual void changed(Link&, const codec::Change&) {}

 protected:
  ~LinkOwner() = default;
};

struct LinkOptions {
  LinkId id;
  wire::Limits limits;
  engine::Net net;
  std::size_t outbox_bytes_max = 256u << 20;
  // Every call to the kernel is timed; otherwise only the sending of much at once, since looking at
  // the clock is a part of what a small message costs.
  bool timed = false;
};

class Link final : public std::enable_shared_from_this<Link>, private Watched {
 public:
  // Is told by the lookout, which outlives the loop that both run on.
  Link(asio::ip::tcp::socket socket, LinkOptions options, BufferPool& buffers, LinkOwner& owner,
       Lookout& lookout);

  // Until the link has ended, whoever ended it. Spawned or awaited once, at once.
  static asio::awaitable<void> run(std::shared_ptr<Link> link);

  void send(wire::SharedPacket packet);
  void flush();
  void look() { readable(); }  // as if the lookout had told it, for who has kept it waiting
  void finish(Duration patience);
  void fail(Error why);

  void set_limits(const wire::Limits& limits) { reader_.set_limits(limits); }
  void set_net(const engine::Net& net);  // once the job is known, before its coding
  void set_coding(CodingCrew& crew,
                  engine::LosslessPlan plan);  // the crew outlives the link's loop

  LinkId id() const { return options_.id; }
  const std::string& peer() const { return peer_; }  // "10.0.0.7:4123"
  const Error& why() const { return why_; }
  bool open() const { return socket_.is_open(); }
  bool finishing() const { return finishing_; }
  Time heard_at() const { return heard_at_; }
  std::size_t queued_bytes() const { return writer_.queued_bytes(); }
  Duration take_network_span();  // spent in the kernel's send and receive, where timed; since asked
  Duration take_decode_span();   // the same for the codes of what came
  std::size_t last_message_saved() const { return reader_.last_message_saved(); }

  // The owner's mark that something was queued since the last flush; true: it was not there yet.
  bool mark_dirty() { return !std::exchange(dirty_, true); }

 private:
  void readable() override;
  void writable() override;
  void drain();
  std::span<std::byte> space_for_more();
  Result<std::optional<wire::Message>> next_message();
  std::size_t receive(std::span<std::byte> into, Time now);
  void discard();
  bool hand_over(Time now);
  bool write_some();
  void wait_for_room();
  void go_on();
  void all_sent();
  CodingCrew::Told teller();
  void fragment_coded(const codec::Trial& seen);
  void tell_saved();
  bool begin_watching_line();
  void look_at_line();

  LinkOptions options_;
  LinkOwner& owner_;
  Lookout& lookout_;
  asio::steady_timer deadline_;
  asio::steady_timer look_;
  asio::steady_timer ended_;  // never expires; cancelled when the link has ended
  wire::FrameReader reader_;
  wire::FrameWriter writer_;
  std::unique_ptr<LinkCoding> coding_;  // null: everything goes as it is
  std::vector<std::span<const std::byte>> segments_;

  std::string peer_;
  store::Descriptor socket_;
  Error why_{Errc::kLinkLost, ""};
  bool dirty_ = false;
  bool finishing_ = false;
  bool waiting_for_room_ = false;
  bool watching_line_ = false;
  Time heard_at_{};
  Duration network_span_{};
  Duration decode_span_told_{};
  std::uint64_t bytes_saved_told_ = 0;
};

}  // namespace wide::net
