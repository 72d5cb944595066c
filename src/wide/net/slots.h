#pragma once
// Where a node's work gets done, and on which thread.
//
//   prepare       a thread of its own: opening and hashing samples takes long, heartbeats go on
//   one slot, short units    on the I/O thread, between two reads of the socket: handing them to
//                            another thread and back would cost two wake-ups per lease
//   all else      the crew's threads
//
// Between leases of its own, one slot computes blocks of its kin's (kin_table.h).
//
// After short work, one slot that waits for more may keep the core awake that it has worked
// on, as long as more usually comes soon (wakeful_core.h, brief_wait.h).
//
// Everything is called, and every outcome told, on the I/O thread.

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <variant>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>

#include "wide/net/brief_wait.h"
#include "wide/net/crew.h"
#include "wide/net/supply.h"
#include "wide/net/wakeful_core.h"
#include "wide/net/workshop.h"

namespace wide::net {

struct SlotOutcomes {
  std::function<void(const Workshop&)> prepared;
  std::function<void(engine::TaskId, engine::LeaseOutcome, Duration)> computed;
  std::function<void(engine::TaskId, std::vector<wire::EvalRow>, Duration)> computed_eval;
  std::function<void(std::uint64_t units, Duration span)> measured;
  std::function<void(Duration span)> helped;  // with one block of another's lease
  std::function<void(const Error&)> failed;   // the node cannot go on
  std::function<void()> look;                 // for what has come: there is time
};

class Slots final {
 public:
  Slots(asio::io_context& io, NodeClientOptions options, Tools tools, Supply& supply,
        BufferPool& buffers, SlotOutcomes outcomes);
  ~Slots();

  void end();  // nobody is helped any more; what is under way goes on

  void prepare(engine::Prepare prepare);  // once
  // `samples` keeps what the work reads where it is, until it is done.
  using Hold = std::shared_ptr<const void>;
  void compute(engine::Compute work, Hold samples);
  void compute(engine::ComputeEval work, Hold samples);
  void measure(engine::MeasureSlots work);

 private:
  using Work = std::variant<engine::Compute, engine::ComputeEval>;
  struct Done {
    engine::TaskId task;
    std::variant<engine::LeaseOutcome, std::vector<wire::EvalRow>, Error> outcome;
    Duration span{};
    int core = -1;
    double train_units = 0;  // as many as the work is worth, in units of training
  };
  struct Measuring;

  // A lease that our kin help with.
  struct Helped {
    engine::TaskId task;
    engine::HelpedLease lease;
    Duration span{};
  };

  void move_in(Equipment equipment);
  void start(Work work, Hold samples);
  bool begin_helped(const Work& work);
  void advance();
  bool belongs_here(double train_units) const;
  bool may_help() const;
  double train_units(const Work& work) const;
  Done perform(const Work& work, engine::UnitComputer& computer);
  void deliver(Done done);
  void await_more(const Done& done);
  void wait_for_bell();
  void begin_helping();
  void help();
  bool at_work_anyway() const;
  bool help_once();
  void look_now_and_then();
  void rest();
  void submit_once_free(Crew::Task task);

  asio::io_context& io_;
  NodeClientOptions options_;
  Tools tools_;
  Supply& supply_;
  BufferPool& buffers_;
  SlotOutcomes outcomes_;

  std::optional<Workshop> workshop_;
  Duration unit_span_{};  // smoothed
  unsigned measuring_ = 0;
  unsigned under_way_ = 0;
  // Of those: on this thread, or on the crew's. Never both, where they share a computer.
  unsigned on_io_ = 0;
  unsigned on_crew_ = 0;
  BriefWait wait_;
  WakefulCore core_;
  KinSeat* kin_ = nullptr;  // null: nobody helps
  std::optional<asio::posix::stream_descriptor> bell_;
  std::deque<Helped> helped_;  // leases of ours: the one at hand, and the next
  bool helping_ = false;
  bool ended_ = false;
  Time own_work_at_{};
  Time helped_at_{};
  Time looked_at_{};
  std::unique_ptr<Crew> crew_;
  std::thread preparing_;
};

}  // namespace wide::net
