#pragma once
// A network with the manners of TCP: a link is two ordered streams of bytes. What is sent arrives
// later, in order, in pieces of any size; a side that does not read makes the other side's queue
// grow; an end is told of (hung up, reset) or not (the machine is gone, a way is blocked).
//
//   node's end                                         pool's end
//   writer ─▶ [ bytes on their way, bounded ] ─▶ reader
//   reader ◀─ [                             ] ◀─ writer
//
// Frames are the real ones: wire::FrameWriter and wire::FrameReader stand at each end. So are their
// lossless codes, where a plan wants some: faults then hit coded frames, too.

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "wide/sim/stage.h"
#include "wide/wire/frame_reader.h"
#include "wide/wire/frame_writer.h"

namespace wide::sim {

enum class Side : std::uint8_t { kNode = 0, kPool = 1 };
inline Side other(Side side) { return side == Side::kNode ? Side::kPool : Side::kNode; }

// Whom an end tells what it hears. Nothing is told before awake_at(): a process that is stopped
// finds everything waiting when it goes on. The pool is told the caller's machine as the tag of a
// link, a caller whatever it gave to dial().
class LinkOwner {
 public:
  virtual Time awake_at() const = 0;
  virtual void opened(LinkId link, std::uint32_t tag) = 0;
  virtual void unanswered(std::uint32_t tag) = 0;  // a call: refused, or nobody took it
  virtual void heard(LinkId link) = 0;
  virtual void received(LinkId link, wire::Message message, std::size_t wire_bytes) = 0;
  virtual void broken(LinkId link, const Error& why) = 0;  // must finish() or fail()
  virtual void closed(LinkId link, const Error& why) = 0;  // by the other side, or by the network

 protected:
  ~LinkOwner() = default;
};

// How far a machine is from the pool.
struct Distance {
  Duration latency{std::chrono::microseconds(200)};
  Duration jitter{std::chrono::microseconds(100)};
  double bytes_per_second = 1e8;
};

struct NetOptions {
  std::size_t window_bytes = 64u << 10;       // on their way, or not read yet
  std::size_t outbox_bytes_max = 256u << 10;  // that wait for a slow reader
  // Of what is sent, on two links of three: both kinds meet in one run.
  codec::Lossless lossless = codec::Lossless::kNone;
};

class SimNet final {
 public:
  SimNet(Stage& stage, NetOptions options) : stage_(stage), options_(options) {}

  // The pool's machine.
  void listen(LinkOwner* pool) { pool_ = pool; }  // null: calls are refused
  void set_dark(bool dark) { dark_ = dark; }      // nobody is there to refuse them
  void set_distance(std::uint32_t machine, const Distance& distance);

  // An end's verbs. All do nothing where the end is closed.
  void dial(LinkOwner& node, std::uint32_t machine, std::uint32_t tag);
  void send(LinkId link, Side side, wire::SharedPacket packet);
  void send_raw(LinkId link, Side side, std::span<const std::byte> bytes);  // no frame at all
  void set_limits(LinkId link, Side side, const wire::Limits& limits);
  // Sends what is queued, listens no more, waits for the other side to hang up.
  void finish(LinkId link, Side side, Duration patience);
  void fail(LinkId link, Side side);    // at once; the other side is told
  void vanish(LinkId link, Side side);  // at once; nobody is told

  // The weather.
  void reset(LinkId link);
  void swallow(LinkId link);  // everything, from now on
  void stall(LinkId link, Time until);
  void block(std::uint32_t machine, Side from, Time until);
  void flip_next(LinkId link, Side side);
  void read_slowly(LinkId link, Side reader, std::size_t bytes_at_once);  // 0: as ever
  void hand_over_singly(LinkId link);
  void clear();  // the weather is fine from now on

  // Questions.
  bool is_open(LinkId link, Side side) const;
  bool tampered(LinkId link) const { return tampered_.contains(link); }
  void taint(LinkId link) { tampered_.insert(link); }  // its node says what it should not
  std::vector<LinkId> links() const;                   // with both ends open
  std::size_t queued_bytes_most() const { return queued_bytes_most_; }  // ever, at a pool's end
  std::uint64_t saved_bytes() const { return saved_bytes_; }            // by codes that arrived

 private:
  struct Leg {
    Time arrives{};
    std::uint64_t end = 0;  // of the stream's bytes that have arrived by then
  };
  // What one side sends.
  struct Way {
    std::vector<std::byte> bytes;
    std::size_t taken_bytes = 0;  // of `bytes`
    std::uint64_t sent = 0;       // of the stream, in all
    std::uint64_t read = 0;
    std::deque<Leg> legs;
    Time last_arrival{};
    Time stalled_until{};
    Time poke_at = Time::max();  // when its reader is to look
    bool flip = false;
    bool hung_up = false;  // nothing follows
  };
  struct End {
    LinkOwner* owner = nullptr;
    std::uint32_t tag = 0;
    wire::FrameWriter writer;
    wire::FrameReader reader;
    std::size_t bytes_at_once = 0;  // of a slow reader
    bool told = false;              // that it is open
    bool open = true;
    bool finishing = false;

    End(LinkOwner* whose, std::uint32_t known_as, BufferPool& buffers, const wire::Limits& limits)
        : owner(whose), tag(known_as), reader(buffers, limits) {}
  };
  struct Link {
    LinkId id;
    std::uint32_t machine = 0;
    bool swallows = false;
    std::size_t grain_bytes = 0;  // pieces that a reader is fed; 0: all there is
    std::array<End, 2> ends;
    std::array<Way, 2> ways;  // by who sends

    End& end(Side side) { return ends[static_cast<std::size_t>(side)]; }
    Way& way(Side from) { return ways[static_cast<std::size_t>(from)]; }
  };
  using LinkPtr = std::shared_ptr<Link>;

  LinkPtr find(LinkId link) const;
  LinkPtr open_end(LinkId link, Side side) const;
  void connect(LinkOwner& node, std::uint32_t machine, std::uint32_t tag, Time called_at);
  Duration delay(std::uint32_t machine, std::size_t byte_count);
  Time passable_at(const Link& link, Side from) const;

  wire::SharedCode code_of(const Link& link, const wire::SharedPacket& packet);
  void pump(Link& link, Side from);
  std::size_t load(Link& link, Side from);
  void plan_legs(Link& link, Side from, std::size_t byte_count);
  void poke(Link& link, Side from, Time when);
  void arrive(LinkId link, Side from);
  void tell_opened(Link& link, Side side);
  void read(const LinkPtr& link, Side from);
  bool feed(const LinkPtr& link, Side side, std::span<const std::byte> bytes);
  bool hand_over(const LinkPtr& link, Side side);
  void close(Link& link, Side side, const char* why);
  void give_up(LinkId link, Side side, const char* why);
  void tell_closed(LinkId link, Side side, const char* why);
  void forget_if_over(const Link& link);

  Stage& stage_;
  NetOptions options_;
  LinkOwner* pool_ = nullptr;
  bool dark_ = false;
  std::map<LinkId, LinkPtr> links_;
  std::map<std::uint32_t, Distance> distances_;
  std::map<std::pair<std::uint32_t, Side>, Time> blocked_until_;
  std::set<LinkId> tampered_;
  std::uint64_t next_link_ = 1;
  std::size_t queued_bytes_most_ = 0;
  std::uint64_t saved_bytes_ = 0;
  wire::FragmentCoder coder_;
  std::vector<std::byte> scratch_;
  wire::Segments segments_;
};

}  // namespace wide::sim
