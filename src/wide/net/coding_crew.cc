#include "wide/net/coding_crew.h"

#include <algorithm>
#include <utility>

#include <asio/post.hpp>

#include "wide/base/check.h"
#include "wide/net/signal_block.h"
#include "wide/net/steady.h"

namespace wide::net {

namespace {

// With more to do than this there is no time for trials; and however many links would like some,
// they take no more than this share of the time that has passed.
constexpr std::size_t kAheadOfTrialsMax = 8;
constexpr int kTrialsTakeOneIn = 50;
constexpr Duration kTrialsAtFirst = std::chrono::milliseconds(500);

// Some bytes of a fragment, from its middle, where floats begin at multiples of four.
std::span<const std::byte> some_of(std::span<const std::byte> fragment, std::size_t bytes) {
  const std::size_t count = std::min(bytes, fragment.size());
  return fragment.subspan((fragment.size() - count) / 2 / 8 * 8, count);
}

codec::Trial tried(std::span<const std::byte> raw, codec::Lossless codec,
                   codec::LosslessCoder& codecs, BufferPool& buffers) {
  codec::Trial trial{codec, raw.size(), 0, {}, {}};
  const auto buffer = buffers.take(2 * raw.size());
  const auto room = buffer->first(2 * raw.size());
  const Time began = steady_now();
  trial.coded_bytes = codecs.encode(codec, raw, room.first(raw.size() - 1));
  const Time coded = steady_now();
  trial.encode = coded - began;
  if (trial.coded_bytes == 0) return trial;
  const auto done = codecs.decode(codec, room.first(trial.coded_bytes), room.subspan(raw.size()));
  WIDE_CHECK(done, "a code of our own cannot be read");
  trial.decode = steady_now() - coded;
  return trial;
}

codec::Trial coded_in_earnest(const wire::Packet& packet, std::size_t fragment,
                              codec::Lossless codec, wire::FragmentCoder& coder,
                              BufferPool& buffers, wire::CodedFragment& coded) {
  const Time began = steady_now();
  coded = wire::code_fragment(packet, fragment, codec, coder, buffers);
  return {
      codec, wire::fragment_bytes(packet, fragment), coded.bytes.size(), steady_now() - began, {}};
}

}  // namespace

CodingCrewOptions crew_options(unsigned threads) {
  CodingCrewOptions options;
  const unsigned by_machine = std::clamp(std::thread::hardware_concurrency() / 2, 1u, 2u);
  options.threads = threads > 0 ? threads : by_machine;
  return options;
}

CodingCrew::CodingCrew(asio::io_context& io, BufferPool& buffers, CodingCrewOptions options)
    : io_(io), buffers_(buffers), options_(options), began_(steady_now()) {}

CodingCrew::~CodingCrew() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (auto& thread : threads_) thread.join();
}

wire::SharedCode CodingCrew::code(const wire::SharedPacket& packet, codec::Lossless codec,
                                  Told told) {
  std::erase_if(whole_, [](const auto& weak) { return weak.expired(); });
  for (const auto& weak : whole_) {
    const auto code = weak.lock();
    if (code->packet() == packet && code->codec() == codec) return code;
  }
  if (const OrderPtr order = find(packet, codec, 0)) {
    order->told.push_back(std::move(told));
    return order->code;
  }
  if (waiting_count_ >= options_.waiting_max) return nullptr;
  const auto order = std::make_shared<Order>();
  order->code = std::make_shared<wire::PacketCode>(packet, codec);
  order->told.push_back(std::move(told));
  submit(order, 0, order->code->size());
  return order->code;
}

bool CodingCrew::try_out(const wire::SharedPacket& packet, const codec::TrialWish& wish,
                         Told told) {
  if (const OrderPtr order = find(packet, wish.codec, wish.raw_bytes)) {
    order->told.push_back(std::move(told));
    return true;
  }
  if (!has_time_for_trials()) return false;
  const auto order = std::make_shared<Order>();
  order->code = std::make_shared<wire::PacketCode>(packet, wish.codec);
  order->trial_bytes = wish.raw_bytes;
  order->told.push_back(std::move(told));
  submit(order, (order->code->size() - 1) / 2, 1);
  return true;
}

bool CodingCrew::has_time_for_trials() const {
  return waiting_count_ < kAheadOfTrialsMax &&
         trial_span_ < kTrialsAtFirst + (steady_now() - began_) / kTrialsTakeOneIn;
}

CodingCrew::OrderPtr CodingCrew::find(const wire::SharedPacket& packet, codec::Lossless codec,
                                      std::size_t trial_bytes) {
  std::erase_if(orders_, [](const auto& weak) { return weak.expired(); });
  for (const auto& weak : orders_) {
    auto order = weak.lock();
    if (order->trial_bytes == trial_bytes && order->code->packet() == packet &&
        order->code->codec() == codec) {
      return order;
    }
  }
  return nullptr;
}

void CodingCrew::submit(const OrderPtr& order, std::size_t first, std::size_t count) {
  start_threads();
  order->missing = count;
  waiting_count_ += count;
  orders_.push_back(order);
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < count; ++i) queue_.push_back({order, first + i});
  }
  if (count == 1) {
    changed_.notify_one();
  } else {
    changed_.notify_all();
  }
}

Duration CodingCrew::take_span() { return std::exchange(span_, Duration{}); }

// The threads.

void CodingCrew::start_threads() {
  if (!threads_.empty()) return;
  const SignalBlock signals_stay_here;
  for (unsigned i = 0; i < options_.threads; ++i) threads_.emplace_back([this] { work(); });
}

void CodingCrew::work() {
  wire::FragmentCoder coder;
  const std::weak_ptr<const Presence> presence = presence_;
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (stopping_) return;
    Task task = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    auto outcome = carry_out(std::move(task), coder);
    asio::post(io_, [this, presence, outcome = std::move(outcome)]() mutable {
      if (!presence.expired()) ended(std::move(outcome));
    });
    lock.lock();
  }
}

// Reads nothing of the order that the I/O thread may write.
CodingCrew::Outcome CodingCrew::carry_out(Task task, wire::FragmentCoder& coder) {
  const wire::PacketCode& code = *task.order->code;
  const wire::Packet& packet = *code.packet();
  Outcome outcome;
  if (task.order->trial_bytes > 0) {
    const auto body = wire::fragment_body(packet, task.fragment, coder.joined);
    outcome.seen =
        tried(some_of(body, task.order->trial_bytes), code.codec(), coder.codecs, buffers_);
  } else {
    outcome.seen =
        coded_in_earnest(packet, task.fragment, code.codec(), coder, buffers_, outcome.coded);
  }
  outcome.task = std::move(task);
  return outcome;
}

void CodingCrew::ended(Outcome outcome) {
  Order& order = *outcome.task.order;
  --waiting_count_;
  --order.missing;
  span_ += outcome.seen.encode + outcome.seen.decode;
  if (order.trial_bytes > 0) {
    trial_span_ += outcome.seen.encode + outcome.seen.decode;
  } else {
    order.code->fill(outcome.task.fragment, std::move(outcome.coded));
    if (order.missing == 0) whole_.push_back(order.code);
  }
  const auto told = order.told;  // one of them may ask for this packet again
  for (const auto& tell : told) tell(outcome.seen);
}

}  // namespace wide::net
