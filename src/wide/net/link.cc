#include "wide/net/link.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>

#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>

#include "wide/net/steady.h"
#include "wide/net/tcp_options.h"

namespace wide::net {

using asio::ip::tcp;

namespace {

// A link that always has more gives the others a turn after so many reads.
constexpr int kReadsPerTurn = 16;
constexpr std::size_t kSegmentsPerWrite = 256;
constexpr std::size_t kWatchedBytes = 64u << 10;  // fewer at once tell nothing of a line

std::string name_of(const tcp::socket& socket) {
  std::error_code failed;
  const auto remote = socket.remote_endpoint(failed);
  if (failed) return "a peer that is gone";
  const auto address = remote.address();
  return fmt::format(fmt::runtime(address.is_v6() ? "[{}]:{}" : "{}:{}"), address.to_string(),
                     remote.port());
}

Error lost(const std::error_code& failed) { return {Errc::kLinkLost, failed.message()}; }

std::error_code system_code(int number) { return {number, std::system_category()}; }

bool would_block(int number) { return number == EAGAIN || number == EWOULDBLOCK; }

// send() and recv() are places where a thread can be cancelled, and pay for it with two locked
// operations each. Nobody cancels a thread here, and a small message would notice.
ssize_t send_without_cancelling(int socket, std::span<const std::byte> bytes, int flags) {
  return ::syscall(SYS_sendto, socket, bytes.data(), bytes.size(), flags, nullptr, 0);
}
ssize_t receive_without_cancelling(int socket, std::span<std::byte> into, int flags) {
  return ::syscall(SYS_recvfrom, socket, into.data(), into.size(), flags, nullptr, nullptr);
}

// A few small pieces are joined first: that costs less than it costs the kernel to gather them.
constexpr std::size_t kJoinedBytesMax = 512;

ssize_t hand_to_kernel(int socket, const wire::Segments& segments) {
  constexpr int kFlags = MSG_NOSIGNAL | MSG_DONTWAIT;
  std::size_t bytes = 0;
  for (const auto segment : segments) bytes += segment.size();
  if (bytes <= kJoinedBytesMax) {
    std::array<std::byte, kJoinedBytesMax> joined;
    auto* end = joined.data();
    for (const auto segment : segments) {
      std::memcpy(end, segment.data(), segment.size());
      end += segment.size();
    }
    return send_without_cancelling(socket, {joined.data(), bytes}, kFlags);
  }
  std::array<iovec, kSegmentsPerWrite> runs;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    runs[i] = {const_cast<std::byte*>(segments[i].data()), segments[i].size()};
  }
  msghdr message{};
  message.msg_iov = runs.data();
  message.msg_iovlen = segments.size();
  return ::sendmsg(socket, &message, kFlags);
}

// Of a call to the kernel; for nobody, it does not look at the clock.
class Stopwatch final {
 public:
  explicit Stopwatch(Duration* total) : Stopwatch(total, total ? steady_now() : Time{}) {}
  Stopwatch(Duration* total, Time start) : total_(total), start_(start) {}
  ~Stopwatch() {
    if (total_ != nullptr) *total_ += steady_now() - start_;
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  Duration* total_;
  Time start_;
};

}  // namespace

Link::Link(tcp::socket socket, LinkOptions options, BufferPool& buffers, LinkOwner& owner,
           Lookout& lookout)
    : options_(options),
      owner_(owner),
      lookout_(lookout),
      deadline_(socket.get_executor()),
      look_(socket.get_executor()),
      ended_(socket.get_executor(), std::chrono::steady_clock::time_point::max()),
      reader_(buffers, options.limits, &steady_now),
      peer_(name_of(socket)),
      socket_(socket.release()),
      heard_at_(steady_now()) {
  set_tcp_options(socket_.number(), options_.net);
  if (auto watched = lookout_.watch(socket_.number(), *this); !watched) {
    why_ = std::move(watched.error());  // it has ended before it began
    socket_ = store::Descriptor();
  }
}

void Link::set_net(const engine::Net& net) {
  options_.net = net;
  if (open()) set_tcp_options(socket_.number(), net);
}

void Link::set_coding(CodingCrew& crew, engine::LosslessPlan plan) {
  coding_.reset();
  if (plan == engine::LosslessPlan::kNone) return;
  coding_ = std::make_unique<LinkCoding>(crew, plan, options_.net.code_bytes_least);
}

Duration Link::take_decode_span() {
  return reader_.decode_span() - std::exchange(decode_span_told_, reader_.decode_span());
}

Duration Link::take_network_span() { return std::exchange(network_span_, Duration{}); }

asio::awaitable<void> Link::run(std::shared_ptr<Link> link) {
  std::error_code cancelled;
  if (link->open()) {
    co_await link->ended_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
  }
  link->deadline_.cancel();
  link->look_.cancel();
}

void Link::readable() {
  if (!open()) return;
  if (finishing_) {
    discard();
  } else {
    drain();
  }
}

void Link::writable() {
  if (!waiting_for_room_ || !open()) return;
  waiting_for_room_ = false;
  lookout_.watch_for(Lookout::For::kBytes, socket_.number(), *this);
  go_on();
}

void Link::drain() {
  const Time now = steady_now();
  for (int turn = 0; turn < kReadsPerTurn && open() && !finishing_; ++turn) {
    const auto space = space_for_more();
    const auto byte_count = space.empty() ? 0 : receive(space, turn == 0 ? now : steady_now());
    if (byte_count == 0) break;
    heard_at_ = now;
    reader_.filled(byte_count);
    if (!hand_over(now)) owner_.heard(*this, now);
    if (byte_count < space.size()) break;  // the kernel had no more
  }
  owner_.drained(*this, now);
}

// A peer whose message does not fit into memory is cut off; nobody else pays for it.
std::span<std::byte> Link::space_for_more() {
  try {
    return reader_.space();
  } catch (const std::bad_alloc&) {
    fail({Errc::kMachine, "no memory left for what this peer sends"});
    return {};
  }
}

Result<std::optional<wire::Message>> Link::next_message() {
  try {
    return reader_.next();
  } catch (const std::bad_alloc&) {
    return wide::fail(Errc::kMachine, "no memory left for what this peer sends");
  }
}

// 0: nothing there, or the link has ended.
std::size_t Link::receive(std::span<std::byte> into, Time now) {
  ssize_t byte_count = 0;
  {
    const Stopwatch stopwatch(options_.timed ? &network_span_ : nullptr, now);
    do {
      byte_count = receive_without_cancelling(socket_.number(), into, MSG_DONTWAIT);
    } while (byte_count < 0 && errno == EINTR);
  }
  if (byte_count > 0) {
    if (options_.net.quick_ack) renew_quick_ack(socket_.number());
    return static_cast<std::size_t>(byte_count);
  }
  if (byte_count == 0) fail({Errc::kLinkLost, "the other side hung up"});
  if (byte_count < 0 && !would_block(errno)) fail(lost(system_code(errno)));
  return 0;
}

// What a peer says after we have said our last word is read and dropped.
void Link::discard() {
  std::array<std::byte, 4096> scratch;
  for (int turn = 0; turn < kReadsPerTurn && open(); ++turn) {
    if (receive(scratch, steady_now()) == 0) return;
  }
}

// False: no message has become whole.
bool Link::hand_over(Time now) {
  bool any = false;
  while (open() && !finishing_) {
    auto next = next_message();
    if (!next) {
      owner_.broken(*this, next.error(), now);
      return true;
    }
    if (!next->has_value()) break;
    any = true;
    owner_.received(*this, std::move(**next), reader_.last_message_bytes(), now);
  }
  return any;
}

void Link::send(wire::SharedPacket packet) {
  if (!coding_ || !coding_->is_large(*packet)) return writer_.push(std::move(packet));
  auto code = coding_->code(packet, teller(), steady_now());
  writer_.push(std::move(packet), std::move(code));
}

CodingCrew::Told Link::teller() {
  return [weak = weak_from_this()](const codec::Trial& seen) {
    if (const auto self = weak.lock()) self->fragment_coded(seen);
  };
}

void Link::fragment_coded(const codec::Trial& seen) {
  if (!open() || !coding_) return;
  if (const auto change = coding_->learn(seen, steady_now())) owner_.changed(*this, *change);
  if (!writer_.empty()) coding_->try_on(teller(), steady_now());
  if (!writer_.empty() && !waiting_for_room_) go_on();
}

void Link::flush() {
  dirty_ = false;
  const bool watched = coding_ && begin_watching_line();
  while (open() && !waiting_for_room_ && !writer_.empty() && !writer_.blocked()) {
    if (!write_some()) break;
  }
  if (watched) look_at_line();
  if (coding_) tell_saved();
  if (writer_.empty()) {
    all_sent();
  } else if (writer_.queued_bytes() > options_.outbox_bytes_max) {
    fail({Errc::kLinkLost,
          fmt::format("it reads too slowly: {} bytes were waiting", writer_.queued_bytes())});
  }
}

// False: the kernel takes no more now, or the link has ended.
bool Link::write_some() {
  writer_.gather(segments_, options_.net.gather ? kSegmentsPerWrite : 1);
  ssize_t byte_count = 0;
  {
    const bool timed = options_.timed || writer_.queued_bytes() >= kWatchedBytes;
    const Stopwatch stopwatch(timed ? &network_span_ : nullptr);
    do {
      byte_count = hand_to_kernel(socket_.number(), segments_);
    } while (byte_count < 0 && errno == EINTR);
  }
  if (byte_count >= 0) {
    writer_.sent(static_cast<std::size_t>(byte_count));
    return true;
  }
  if (would_block(errno)) {
    wait_for_room();
  } else {
    fail(lost(system_code(errno)));
  }
  return false;
}

void Link::wait_for_room() {
  waiting_for_room_ = true;
  lookout_.watch_for(Lookout::For::kBytesAndRoom, socket_.number(), *this);
}

void Link::go_on() {
  flush();
  if (writer_.empty()) owner_.sent(*this, steady_now());
}

void Link::tell_saved() {
  const std::uint64_t saved = writer_.bytes_saved();
  if (saved > bytes_saved_told_) owner_.saved(*this, saved - bytes_saved_told_);
  bytes_saved_told_ = saved;
}

// Before a large message is handed to the kernel; until it is out.
bool Link::begin_watching_line() {
  if (watching_line_ || !open() || !coding_->wants_readings()) return false;
  if (writer_.queued_bytes() < kWatchedBytes || writer_.blocked()) return false;
  const auto reading = read_tcp(socket_.number(), steady_now());
  if (reading) coding_->line().begin(*reading);
  return reading.has_value();
}

void Link::look_at_line() {
  const auto reading = open() ? read_tcp(socket_.number(), steady_now()) : std::nullopt;
  watching_line_ = reading && (reading->unsent_bytes > 0 || waiting_for_room_);
  if (!reading || !coding_) return;
  if (const auto change = coding_->learn(*reading)) owner_.changed(*this, *change);
  if (!watching_line_) return;
  coding_->try_on(teller(), reading->at);
  look_.expires_after(LineWatch::kEvery);
  look_.async_wait([weak = weak_from_this()](const std::error_code& cancelled) {
    const auto self = weak.lock();
    if (self && !cancelled) self->look_at_line();
  });
}

void Link::all_sent() {
  if (!finishing_ || !open()) return;
  ::shutdown(socket_.number(), SHUT_WR);
}

void Link::finish(Duration patience) {
  if (!open() || finishing_) return;
  finishing_ = true;
  deadline_.expires_after(patience);
  deadline_.async_wait([weak = weak_from_this()](const std::error_code& failed) {
    const auto self = weak.lock();
    if (self && !failed) self->fail({Errc::kLinkLost, "the other side did not hang up in time"});
  });
  flush();
}

void Link::fail(Error why) {
  if (!open()) return;
  why_ = std::move(why);
  lookout_.forget(socket_.number());
  socket_ = store::Descriptor();
  ended_.cancel();
}

}  // namespace wide::net
