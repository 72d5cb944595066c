#pragma once
// The table at which the nodes of one machine sit: memory that they share because they were forked
// from one program. Who holds a lease calls, and others compute blocks of it from its right end
// (engine/kin.h). No message, no wake-up while everyone is at work.
//
//   a seat   two sheets, for the calls that take turns: with a delay the next one is made before
//            the last one is over
//              claims   call u32 | first block left u16 | end of those left u16
//              what it calls for: step, blocks, weights
//              mail     for each block of the call: who has computed it, and in which drawer
//            drawers  what this seat has computed for others
//
// Anybody may be killed or stopped at any moment, and go on when the others are far ahead:
// - a seat is written by its own process alone, but for claims and mail, which are compared and
//   exchanged together with the number of the call: who comes late changes nothing;
// - weights are copied before a block is claimed: the claim fails where the call is over, so
//   whatever was copied meanwhile is never used;
// - what lies in a drawer counts while its label says so, before and after it is copied; there are
//   as many as one seat can need for all calls that are open at once;
// - the holder waits for a block about as long as it would take to compute, then computes it.

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "wide/base/clock.h"
#include "wide/engine/kin.h"
#include "wide/engine/replica.h"
#include "wide/engine/work_ahead.h"

namespace wide::net {

class KinTable final {
 public:
  explicit KinTable(unsigned seats);  // before the fork. Failure kMachine: no memory for it
  ~KinTable();
  KinTable(const KinTable&) = delete;
  KinTable& operator=(const KinTable&) = delete;

  unsigned size() const { return static_cast<unsigned>(bells_.size()); }

 private:
  friend class KinSeat;
  struct Sheet;
  struct Seat;

  Seat* seats_ = nullptr;
  std::vector<int> bells_;  // an eventfd for each
};

class KinSeat final {
 public:
  static constexpr std::size_t kCallsAtOnce = 2;

  // `hands`: how many of them can compute at once.
  KinSeat(KinTable& table, unsigned index, unsigned hands);
  KinSeat(const KinSeat&) = delete;
  KinSeat& operator=(const KinSeat&) = delete;

  // Before anything else, once the job is known. `blocks`: of a call, at most.
  void sit_down(std::size_t value_count, Block blocks, std::uint32_t delay);

  // As the holder of a lease. What is returned is good until the call after the next.
  engine::Kin& call(const wire::Lease& lease, const engine::Weights& weights);

  // For others. `any`: also those who have called their neighbours alone.
  struct Task {
    unsigned holder = 0;
    std::uint32_t call = 0;
    Block place = 0;
    Step step = 0;
    Block block = 0;
    engine::Weights weights;
  };
  bool is_wanted(bool any) const;  // there is a task
  std::optional<Task> next_task(bool any, BufferPool& buffers);
  void hand_over(const Task& task, const engine::BlockValue& computed);

  // Whoever sleeps is woken by its bell (an eventfd, which is its to read).
  void fall_asleep();
  void wake_up();
  int bell() const { return table_.bells_[index_]; }
  std::uint16_t number() const { return static_cast<std::uint16_t>(index_ + 1); }

 private:
  class Call final : public engine::Kin {
   public:
    explicit Call(KinSeat& seat) : seat_(seat) {}
    void begin(std::uint32_t number);
    std::optional<Block> take() override;
    bool has_come(Block place) const override;
    std::optional<engine::BlockValue> collect(Block place, BufferPool& buffers) override;

   private:
    std::uint64_t mail_for(Block place) const;

    KinSeat& seat_;
    std::uint32_t number_ = 0;
  };
  using Seat = KinTable::Seat;
  using Sheet = KinTable::Sheet;

  Seat& seat(unsigned index) const;
  Sheet& sheet_of(unsigned holder, std::uint32_t call) const;
  std::atomic<std::uint64_t>* weights_on(unsigned holder, std::uint32_t call) const;
  std::atomic<std::uint64_t>* sum_in(unsigned owner, unsigned drawer) const;
  bool is_called(unsigned holder) const;
  std::optional<Task> claim(unsigned holder, std::uint32_t call, BufferPool& buffers);
  void ring();
  void learn_pace();
  Duration patience() const;
  const engine::Weights& weights_of(unsigned holder, std::uint32_t call, BufferPool& buffers);

  KinTable& table_;
  unsigned index_;
  unsigned hands_;
  unsigned called_ = 0;  // of the next seats
  std::size_t value_count_ = 0;
  unsigned drawers_ = 1;  // used in turns: few, so that they stay in the cache

  // As a holder.
  Call calls_[2]{Call(*this), Call(*this)};
  std::uint32_t last_call_ = 0;
  Time taken_at_{};  // a block of our own; 0: none yet
  Duration pace_{};  // of a block, smoothed
  bool anyone_came_ = false;
  unsigned nobody_came_ = 0;  // calls in a row

  // For others.
  unsigned drawer_ = 0;
  engine::Weights copied_;
  unsigned copied_from_ = 0;
  std::uint32_t copied_call_ = 0;
};

}  // namespace wide::net
