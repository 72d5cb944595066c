#include "wide/sim/sim_net.h"

#include <algorithm>
#include <utility>

namespace wide::sim {

namespace {

using namespace std::chrono_literals;

constexpr Duration kDialMax = 5s;
constexpr Duration kSlowReadEvery = 20ms;
constexpr std::size_t kCodedBytesLeast = 64;  // messages are small here

}  // namespace

void SimNet::set_distance(std::uint32_t machine, const Distance& distance) {
  distances_[machine] = distance;
}

SimNet::LinkPtr SimNet::find(LinkId link) const {
  const auto found = links_.find(link);
  return found == links_.end() ? nullptr : found->second;
}

SimNet::LinkPtr SimNet::open_end(LinkId link, Side side) const {
  LinkPtr found = find(link);
  return found && found->end(side).open ? found : nullptr;
}

bool SimNet::is_open(LinkId link, Side side) const { return open_end(link, side) != nullptr; }

std::vector<LinkId> SimNet::links() const {
  std::vector<LinkId> both;
  for (const auto& [id, link] : links_) {
    if (link->ends[0].open && link->ends[1].open) both.push_back(id);
  }
  return both;
}

Duration SimNet::delay(std::uint32_t machine, std::size_t byte_count) {
  const Distance& far = distances_[machine];
  const double travel = static_cast<double>(byte_count) / far.bytes_per_second * 1e9;
  return far.latency + stage_.dice.between(0ns, far.jitter) +
         Duration(static_cast<std::int64_t>(travel));
}

// --- Calls ---------------------------------------------------------------------------------------

void SimNet::dial(LinkOwner& node, std::uint32_t machine, std::uint32_t tag) {
  stage_.queue.after(delay(machine, 0), [this, &node, machine, tag, called_at = stage_.now()] {
    connect(node, machine, tag, called_at);
  });
}

void SimNet::connect(LinkOwner& node, std::uint32_t machine, std::uint32_t tag, Time called_at) {
  const Time now = stage_.now();
  const Time blocked =
      std::max(blocked_until_[{machine, Side::kNode}], blocked_until_[{machine, Side::kPool}]);
  if (dark_ || blocked > now) {
    stage_.happened(Fault::kLostCall);
    stage_.queue.at(called_at + kDialMax, [&node, tag] { node.unanswered(tag); });
    return;
  }
  if (pool_ == nullptr) {
    stage_.queue.after(delay(machine, 0), [&node, tag] { node.unanswered(tag); });
    return;
  }
  const LinkId id{next_link_++};
  const auto link = std::make_shared<Link>(
      Link{id,
           machine,
           false,
           0,
           {End(&node, tag, stage_.buffers, wire::Limits::for_caller()),
            End(pool_, machine, stage_.buffers, wire::Limits::for_stranger())},
           {}});
  links_.emplace(id, link);
  poke(*link, Side::kNode, now);  // so that the pool hears of it though nothing was said yet
  poke(*link, Side::kPool, now);
}

void SimNet::tell_opened(Link& link, Side side) {
  End& end = link.end(side);
  if (end.told) return;
  end.told = true;
  end.owner->opened(link.id, end.tag);
}

// --- Sending -------------------------------------------------------------------------------------

void SimNet::send(LinkId id, Side side, wire::SharedPacket packet) {
  const LinkPtr link = open_end(id, side);
  if (!link || link->end(side).finishing) return;
  auto code = code_of(*link, packet);
  link->end(side).writer.push(std::move(packet), std::move(code));
  pump(*link, side);
}

// A hello is never coded: the other side would refuse it.
wire::SharedCode SimNet::code_of(const Link& link, const wire::SharedPacket& packet) {
  const bool wanted = options_.lossless != codec::Lossless::kNone && link.id.value % 3 != 0;
  if (!wanted || packet->kind == wire::Kind::kHello) return nullptr;
  if (wire::body_bytes(*packet) < kCodedBytesLeast) return nullptr;
  return wire::code_packet(packet, options_.lossless, coder_, stage_.buffers);
}

void SimNet::send_raw(LinkId id, Side side, std::span<const std::byte> bytes) {
  const LinkPtr link = open_end(id, side);
  if (!link || link->end(side).finishing) return;
  taint(id);
  Way& way = link->way(side);
  way.bytes.insert(way.bytes.end(), bytes.begin(), bytes.end());
  plan_legs(*link, side, bytes.size());
}

void SimNet::set_limits(LinkId id, Side side, const wire::Limits& limits) {
  if (const LinkPtr link = open_end(id, side)) link->end(side).reader.set_limits(limits);
}

// From the queue of packets onto the way, as far as the window allows.
void SimNet::pump(Link& link, Side from) {
  End& end = link.end(from);
  if (!end.open) return;
  if (const std::size_t loaded = load(link, from); loaded > 0) plan_legs(link, from, loaded);
  if (end.finishing && end.writer.empty() && !link.way(from).hung_up) {
    link.way(from).hung_up = true;
    plan_legs(link, from, 0);
  }
  if (from != Side::kPool) return;
  queued_bytes_most_ = std::max(queued_bytes_most_, end.writer.queued_bytes());
  if (end.writer.queued_bytes() > options_.outbox_bytes_max && !end.finishing) {
    end.finishing = true;
    give_up(link.id, from, "it reads too slowly");
  }
}

std::size_t SimNet::load(Link& link, Side from) {
  Way& way = link.way(from);
  wire::FrameWriter& writer = link.end(from).writer;
  std::size_t loaded = 0;
  while (!writer.empty() && way.bytes.size() - way.taken_bytes < options_.window_bytes) {
    std::size_t room = options_.window_bytes - (way.bytes.size() - way.taken_bytes);
    std::size_t some = 0;
    writer.gather(segments_);
    for (const auto segment : segments_) {
      const std::size_t count = std::min(room - some, segment.size());
      way.bytes.insert(way.bytes.end(), segment.begin(),
                       segment.begin() + static_cast<std::ptrdiff_t>(count));
      some += count;
    }
    writer.sent(some);
    loaded += some;
  }
  if (loaded > 0 && std::exchange(way.flip, false)) {
    stage_.happened(Fault::kBitFlip);
    taint(link.id);
    way.bytes[way.bytes.size() - 1 - stage_.dice.below(loaded)] ^=
        static_cast<std::byte>(1u << stage_.dice.below(8));
  }
  return loaded;
}

// So many bytes more leave now, in one piece or in a few.
void SimNet::plan_legs(Link& link, Side from, std::size_t byte_count) {
  Way& way = link.way(from);
  std::size_t left = byte_count;
  do {
    const bool cut = left > 1 && stage_.dice.chance(0.15);
    const std::size_t some = cut ? 1 + stage_.dice.below(left - 1) : left;
    way.sent += some;
    left -= some;
    way.last_arrival = std::max(way.last_arrival, stage_.now() + delay(link.machine, some));
    way.legs.push_back({way.last_arrival, way.sent});
  } while (left > 0);
  poke(link, from, way.legs.front().arrives);
}

// --- Arriving ------------------------------------------------------------------------------------

void SimNet::poke(Link& link, Side from, Time when) {
  Way& way = link.way(from);
  if (way.poke_at <= when) return;
  way.poke_at = when;
  stage_.queue.at(when, [this, id = link.id, from] { arrive(id, from); });
}

Time SimNet::passable_at(const Link& link, Side from) const {
  const auto blocked = blocked_until_.find({link.machine, from});
  const Time stalled = link.ways[static_cast<std::size_t>(from)].stalled_until;
  return blocked == blocked_until_.end() ? stalled : std::max(stalled, blocked->second);
}

void SimNet::arrive(LinkId id, Side from) {
  const LinkPtr link = find(id);
  if (!link) return;
  Way& way = link->way(from);
  if (way.poke_at > stage_.now()) return;  // an older poke, overtaken by an earlier one
  way.poke_at = Time::max();
  End& end = link->end(other(from));
  if (!end.open) return;
  const Time ready = std::max(passable_at(*link, from), end.owner->awake_at());
  if (ready > stage_.now()) {
    poke(*link, from, ready + stage_.dice.between(0ns, 1ms));
    return;
  }
  tell_opened(*link, other(from));
  if (end.open && !link->swallows) read(link, from);
}

void SimNet::read(const LinkPtr& link, Side from) {
  Way& way = link->way(from);
  End& end = link->end(other(from));
  std::uint64_t arrived = way.read;
  while (!way.legs.empty() && way.legs.front().arrives <= stage_.now()) {
    arrived = way.legs.front().end;
    way.legs.pop_front();
  }
  if (end.bytes_at_once > 0 && arrived - way.read > end.bytes_at_once) {
    way.legs.push_front({stage_.now() + kSlowReadEvery, arrived});
    arrived = way.read + end.bytes_at_once;
  }
  const auto count = static_cast<std::size_t>(arrived - way.read);
  std::vector<std::byte> bytes = std::exchange(scratch_, {});
  bytes.assign(way.bytes.begin() + static_cast<std::ptrdiff_t>(way.taken_bytes),
               way.bytes.begin() + static_cast<std::ptrdiff_t>(way.taken_bytes + count));
  way.read = arrived;
  way.taken_bytes += count;
  if (way.taken_bytes == way.bytes.size()) {
    way.bytes.clear();
    way.taken_bytes = 0;
  }
  const bool goes_on = count == 0 || end.finishing || feed(link, other(from), bytes);
  scratch_ = std::move(bytes);
  if (!goes_on) return;
  pump(*link, from);
  if (!end.open) return;
  if (!way.legs.empty()) {
    poke(*link, from, way.legs.front().arrives);
  } else if (way.hung_up && way.read == way.sent && link->end(from).writer.empty()) {
    close(*link, other(from), "the other side hung up");
  }
}

// False: this end has closed meanwhile.
bool SimNet::feed(const LinkPtr& link, Side side, std::span<const std::byte> bytes) {
  End& end = link->end(side);
  end.owner->heard(link->id);
  while (!bytes.empty() && end.open && !end.finishing) {
    const auto space = end.reader.space();
    std::size_t count = std::min(space.size(), bytes.size());
    if (link->grain_bytes > 0) count = std::min(count, link->grain_bytes);
    std::copy_n(bytes.begin(), count, space.begin());
    end.reader.filled(count);
    bytes = bytes.subspan(count);
    if (!hand_over(link, side)) return end.open;
  }
  return end.open;
}

// False: nothing more is to be read.
bool SimNet::hand_over(const LinkPtr& link, Side side) {
  End& end = link->end(side);
  while (end.open && !end.finishing) {
    auto next = end.reader.next();
    if (!next) {
      end.owner->broken(link->id, next.error());
      return false;
    }
    if (!*next) return true;
    stage_.trace((*next)->index(), link->id.value);
    saved_bytes_ += end.reader.last_message_saved();
    end.owner->received(link->id, std::move(**next), end.reader.last_message_bytes());
  }
  return false;
}

// --- Ends ----------------------------------------------------------------------------------------

void SimNet::finish(LinkId id, Side side, Duration patience) {
  const LinkPtr link = open_end(id, side);
  if (!link || link->end(side).finishing) return;
  link->end(side).finishing = true;
  pump(*link, side);
  stage_.queue.after(
      patience, [this, id, side] { give_up(id, side, "the other side did not hang up in time"); });
}

void SimNet::fail(LinkId id, Side side) {
  const LinkPtr link = open_end(id, side);
  if (!link) return;
  link->end(side).open = false;
  tell_closed(id, other(side), "reset by the other side");
  forget_if_over(*link);
}

void SimNet::vanish(LinkId id, Side side) {
  const LinkPtr link = open_end(id, side);
  if (!link) return;
  link->end(side).open = false;
  forget_if_over(*link);
}

// This end has had enough of waiting; what the network does is no matter to it.
void SimNet::give_up(LinkId id, Side side, const char* why) {
  stage_.queue.after(0ns, [this, id, side, why] {
    if (const LinkPtr link = open_end(id, side)) close(*link, side, why);
  });
}

// Later, when the news has travelled; never, where nothing gets through.
void SimNet::tell_closed(LinkId id, Side side, const char* why) {
  const LinkPtr link = open_end(id, side);
  if (!link || link->swallows) return;
  const Time ready =
      std::max(stage_.now() + delay(link->machine, 0), passable_at(*link, other(side)));
  stage_.queue.at(ready, [this, id, side, why] {
    const LinkPtr still = open_end(id, side);
    if (still) close(*still, side, why);
  });
}

// This end learns that the link is over, as soon as it is awake.
void SimNet::close(Link& link, Side side, const char* why) {
  End& end = link.end(side);
  if (const Time awake = end.owner->awake_at(); awake > stage_.now()) {
    stage_.queue.at(awake + 1ns, [this, id = link.id, side, why] {
      if (const LinkPtr still = open_end(id, side)) close(*still, side, why);
    });
    return;
  }
  tell_opened(link, side);
  if (!end.open) return;
  end.open = false;
  tell_closed(link.id, other(side), "the other side hung up");
  end.owner->closed(link.id, {Errc::kLinkLost, why});
  forget_if_over(link);
}

void SimNet::forget_if_over(const Link& link) {
  if (!link.ends[0].open && !link.ends[1].open) links_.erase(LinkId{link.id});
}

// --- The weather ---------------------------------------------------------------------------------

void SimNet::reset(LinkId id) {
  tell_closed(id, Side::kNode, "reset");
  tell_closed(id, Side::kPool, "reset");
}

void SimNet::swallow(LinkId id) {
  if (const LinkPtr link = find(id)) link->swallows = true;
}

void SimNet::stall(LinkId id, Time until) {
  if (const LinkPtr link = find(id)) {
    for (Way& way : link->ways) way.stalled_until = until;
  }
}

void SimNet::block(std::uint32_t machine, Side from, Time until) {
  blocked_until_[{machine, from}] = until;
}

void SimNet::flip_next(LinkId id, Side side) {
  if (const LinkPtr link = find(id)) link->way(side).flip = true;
}

void SimNet::read_slowly(LinkId id, Side reader, std::size_t bytes_at_once) {
  if (const LinkPtr link = find(id)) link->end(reader).bytes_at_once = bytes_at_once;
}

void SimNet::hand_over_singly(LinkId id) {
  if (const LinkPtr link = find(id)) link->grain_bytes = 1;
}

void SimNet::clear() {
  blocked_until_.clear();
  for (auto& [id, link] : links_) {
    for (std::size_t side = 0; side < 2; ++side) {
      Way& way = link->ways[side];
      way.stalled_until = {};
      way.flip = false;
      link->ends[side].bytes_at_once = 0;
      if (!way.legs.empty() || way.hung_up) poke(*link, static_cast<Side>(side), stage_.now());
    }
  }
}

}  // namespace wide::sim
