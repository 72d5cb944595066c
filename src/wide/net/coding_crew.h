#pragma once
// The threads that code fragments for all links, so that the I/O thread never does.
//
//   I/O thread                              a coding thread
//   code(packet, codec, told) ── queue ──▶  code_fragment(): only reads the packet
//   PacketCode::fill(), told(…) ◀── post ──  the fragment and what it took
//
// Fragments are coded in the order of asking, several at a time. A packet that many links send with
// one codec is coded once while any of them still has it. The queue is bounded: with too much ahead
// of it a packet is not taken on, and goes as it is.
//
// Used on the I/O thread alone. Threads start with the first work: where nothing is coded there are
// none. What a coding thread held is let go of on the I/O thread, which alone decides whether a
// buffer may be written again.

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <asio/io_context.hpp>

#include "wide/base/clock.h"
#include "wide/codec/choice.h"
#include "wide/wire/packet_code.h"

namespace wide::net {

struct CodingCrewOptions {
  unsigned threads = 1;
  std::size_t waiting_max = 128;  // fragments; past it nothing more is taken on
};

// So many threads; 0: one or two, by the machine, since training wants the rest of it.
CodingCrewOptions crew_options(unsigned threads);

class CodingCrew final {
 public:
  // A fragment was coded, or tried: how long it took, and how short it got.
  using Told = std::function<void(const codec::Trial&)>;

  CodingCrew(asio::io_context& io, BufferPool& buffers, CodingCrewOptions options);
  ~CodingCrew();  // the fragments at hand are finished, the others dropped; nobody is told
  CodingCrew(const CodingCrew&) = delete;
  CodingCrew& operator=(const CodingCrew&) = delete;

  // The packet's code, whose fragments are there or will be; `told` each time that one more is.
  // Null: too much is waiting.
  wire::SharedCode code(const wire::SharedPacket& packet, codec::Lossless codec, Told told);

  // Codes some bytes from the packet's middle, decodes them again, and forgets both; links that
  // wish for the same share one trial. Does nothing, and tells nothing, where earnest work waits or
  // trials have taken their share of the time.
  // False: there is no time for it now.
  bool try_out(const wire::SharedPacket& packet, const codec::TrialWish& wish, Told told);

  unsigned thread_count() const { return options_.threads; }
  std::size_t waiting_count() const { return waiting_count_; }
  Duration take_span();  // spent by its threads since last asked

 private:
  struct Order {  // a packet to be coded, or a trial
    std::shared_ptr<wire::PacketCode> code;
    std::size_t trial_bytes = 0;  // 0: in earnest
    std::size_t missing = 0;
    std::vector<Told> told;
  };
  using OrderPtr = std::shared_ptr<Order>;
  struct Task {
    OrderPtr order;
    std::size_t fragment = 0;
  };
  struct Outcome {
    Task task;
    wire::CodedFragment coded;
    codec::Trial seen;
  };

  struct Presence {};  // there as long as the crew is: what was posted may outlive it

  OrderPtr find(const wire::SharedPacket& packet, codec::Lossless codec, std::size_t trial_bytes);
  void submit(const OrderPtr& order, std::size_t first, std::size_t count);
  void start_threads();
  void work();
  Outcome carry_out(Task task, wire::FragmentCoder& coder);
  bool has_time_for_trials() const;
  void ended(Outcome outcome);

  asio::io_context& io_;
  BufferPool& buffers_;
  CodingCrewOptions options_;
  std::vector<std::weak_ptr<Order>> orders_;            // under way
  std::vector<std::weak_ptr<wire::PacketCode>> whole_;  // done, and still being sent
  std::size_t waiting_count_ = 0;                       // fragments
  Duration span_{};
  Duration trial_span_{};  // ever
  Time began_;
  std::shared_ptr<const Presence> presence_ = std::make_shared<const Presence>();

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;  // guarded by mutex_, as is the queue
  std::deque<Task> queue_;
  std::vector<std::thread> threads_;
};

}  // namespace wide::net
