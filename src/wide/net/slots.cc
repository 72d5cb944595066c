#include "wide/net/slots.h"

#include <immintrin.h>
#include <malloc.h>
#include <sched.h>
#include <unistd.h>

#include <mutex>

#include <asio/post.hpp>

#include "wide/base/check.h"
#include "wide/net/signal_block.h"
#include "wide/net/steady.h"

namespace wide::net {

namespace {

constexpr Duration kShortUnit = std::chrono::milliseconds(3);
// Heartbeats wait while the I/O thread computes: a lease of many short units is not short.
constexpr Duration kShortLease = std::chrono::milliseconds(200);
// Who helps others computes on the I/O thread whatever will be over before anybody wonders: a
// second thread would have caches of its own, and fifty megabytes. A lease that is helped with
// stops behind a block.
constexpr Duration kLeaseOfKin = std::chrono::seconds(1);
constexpr Duration kHelpedBlock = std::chrono::seconds(1);
// A core that halts shows beside work that takes no longer.
constexpr Duration kShortWork = std::chrono::milliseconds(4);
constexpr Duration kWakeful = std::chrono::milliseconds(5);
// A call usually follows the last one sooner; then comes the bell.
constexpr Duration kKinSpan = std::chrono::microseconds(200);
// So long after a lease of its own a node is at work anyway, and helps whoever calls.
constexpr Duration kOwnSpan = std::chrono::milliseconds(5);
constexpr Duration kStint = std::chrono::milliseconds(1);        // then timers have their turn
constexpr Duration kLeaseStint = std::chrono::milliseconds(50);  // the same for a lease
constexpr Duration kLookEvery = std::chrono::microseconds(200);
constexpr int kPauses = 32;
constexpr int kSmoothing = 8;  // one preempted unit among many changes nothing

Duration spent_since(Time start) { return steady_now() - start; }

// It belongs to a thread that is over. Once in a process: where a sanitizer brings its own malloc,
// the C library's is first set up here, which two threads must not do at the same time.
void give_back_what_preparing_freed() {
  static std::once_flag given_back;
  std::call_once(given_back, [] { malloc_trim(0); });
}

}  // namespace

Slots::Slots(asio::io_context& io, NodeClientOptions options, Tools tools, Supply& supply,
             BufferPool& buffers, SlotOutcomes outcomes)
    : io_(io),
      options_(std::move(options)),
      tools_(std::move(tools)),
      supply_(supply),
      buffers_(buffers),
      outcomes_(std::move(outcomes)) {}

Slots::~Slots() {
  supply_.end();  // however the node ended, whoever waits for samples waits no longer
  if (preparing_.joinable()) preparing_.join();
}

void Slots::end() {
  ended_ = true;
  if (bell_) bell_->close();
}

void Slots::prepare(engine::Prepare prepare) {
  WIDE_CHECK(!preparing_.joinable(), "a node prepares once");
  const SignalBlock signals_stay_here;
  preparing_ = std::thread([this, prepare = std::move(prepare)] {
    try {
      auto equipment = equip(prepare, options_, tools_, supply_, buffers_);
      asio::post(io_, [this, equipment = std::move(equipment)]() mutable {
        move_in(std::move(equipment));
      });
    } catch (const std::exception& failed) {
      asio::post(io_, [this, error = compute_error(failed)] { outcomes_.failed(error); });
    }
  });
}

void Slots::move_in(Equipment equipment) {
  workshop_ = std::move(equipment.workshop);
  unit_span_ = workshop_->unit_span;
  crew_ = std::make_unique<Crew>(std::move(equipment.computers));
  const auto& layout = workshop_->genesis.layout;
  // Samples that have to be fetched come with the leases that need them.
  if (!ended_ && options_.kin != nullptr && crew_->size() == 1 &&
      workshop_->first_unit == nullptr && engine::may_be_helped(workshop_->job, layout)) {
    kin_ = options_.kin;
    kin_->sit_down(layout.value_count(), workshop_->job.blocks_per_step(), workshop_->job.delay);
    const int bell = dup(kin_->bell());
    if (bell < 0) throw Failure(Errc::kMachine, "no file descriptor is left for a bell");
    bell_.emplace(io_, bell);
    kin_->fall_asleep();
    wait_for_bell();
    give_back_what_preparing_freed();
  }
  outcomes_.prepared(*workshop_);
}

void Slots::compute(engine::Compute work, Hold samples) {
  start(std::move(work), std::move(samples));
}
void Slots::compute(engine::ComputeEval work, Hold samples) {
  start(std::move(work), std::move(samples));
}

void Slots::start(Work work, Hold samples) {
  ++under_way_;
  wait_.came(steady_now());
  core_.let_go();
  if (begin_helped(work)) return;
  if (belongs_here(train_units(work))) {
    ++on_io_;
    asio::post(io_, [this, work = std::move(work), samples = std::move(samples)] {
      auto done = perform(work, crew_->lend_first());
      --on_io_;
      deliver(std::move(done));
    });
    return;
  }
  ++on_crew_;
  crew_->submit(
      [this, work = std::move(work), samples = std::move(samples)](engine::UnitComputer& computer) {
        auto done = perform(work, computer);
        asio::post(io_, [this, done = std::move(done)]() mutable {
          --on_crew_;
          deliver(std::move(done));
        });
      });
}

// They are called at once, and can begin while this thread still has something to send.
bool Slots::begin_helped(const Work& work) {
  const auto* train = std::get_if<engine::Compute>(&work);
  if (kin_ == nullptr || train == nullptr || train->lease.block_count < 2) return false;
  if (on_crew_ > 0 || helped_.size() >= KinSeat::kCallsAtOnce) return false;
  if (unit_span_ * workshop_->job.train.block_units > kHelpedBlock) return false;
  ++on_io_;
  helped_.push_back(
      {train->task,
       {crew_->lend_first(), workshop_->job, workshop_->genesis.layout, train->weights,
        train->lease, buffers_, kin_->call(train->lease, train->weights)}});
  if (helped_.size() == 1) asio::post(io_, [this] { advance(); });
  return true;
}

// While others are at the last blocks of a lease, the next one is begun.
void Slots::advance() {
  Helped& first = helped_.front();
  Done done;
  done.task = first.task;
  Time start = steady_now();
  const Time stint_end = start + kLeaseStint;
  try {
    while (first.lease.compute_next()) {
      if (steady_now() < stint_end) continue;
      first.span += spent_since(start);
      asio::post(io_, [this] { advance(); });
      return;
    }
    if (helped_.size() > 1) {
      const Time first_end = steady_now();
      while (!first.lease.all_come() && helped_[1].lease.compute_next()) {
      }
      const Duration span = spent_since(first_end);
      helped_[1].span += span;
      start += span;
    }
    done.outcome = first.lease.finish();
  } catch (const std::exception& failed) {
    done.outcome = compute_error(failed);
  }
  done.span = first.span + spent_since(start);
  done.core = sched_getcpu();
  done.train_units =
      static_cast<double>(first.lease.computed_count()) * workshop_->job.train.block_units;
  helped_.pop_front();
  --on_io_;
  if (!helped_.empty()) asio::post(io_, [this] { advance(); });
  deliver(std::move(done));
}

// On this thread. One slot's computer is at home on one thread at a time.
bool Slots::belongs_here(double train_units) const {
  if (crew_->size() != 1 || on_crew_ > 0) return false;
  if (on_io_ > 0) return true;
  const double lease_seconds = train_units * seconds(unit_span_);
  if (kin_ != nullptr) return lease_seconds < seconds(kLeaseOfKin);
  return unit_span_ < kShortUnit && lease_seconds < seconds(kShortLease);
}

double Slots::train_units(const Work& work) const {
  const auto& job = workshop_->job;
  if (const auto* lease = std::get_if<engine::Compute>(&work)) {
    return static_cast<double>(lease->lease.block_count) * job.train.block_units;
  }
  const auto& eval = std::get<engine::ComputeEval>(work).lease;
  return static_cast<double>(eval.unit_count) * job.eval.batch / job.train.batch;
}

Slots::Done Slots::perform(const Work& work, engine::UnitComputer& computer) {
  Done done;
  const Time start = steady_now();
  try {
    if (const auto* train = std::get_if<engine::Compute>(&work)) {
      done.task = train->task;
      done.train_units = train_units(work);
      done.outcome = engine::compute_lease(computer, workshop_->job, workshop_->genesis.layout,
                                           train->weights, train->lease, buffers_);
    } else {
      const auto& eval = std::get<engine::ComputeEval>(work);
      done.task = eval.task;
      done.outcome = engine::compute_eval_lease(
          computer, workshop_->job, workshop_->samples->space(), eval.weights, eval.lease);
    }
  } catch (const std::exception& failed) {
    done.outcome = compute_error(failed);
  }
  done.span = spent_since(start);
  done.core = sched_getcpu();
  return done;
}

void Slots::deliver(Done done) {
  --under_way_;
  if (const auto* error = std::get_if<Error>(&done.outcome)) {
    outcomes_.failed(*error);
    return;
  }
  if (done.train_units > 0) {
    const Duration unit_span(
        static_cast<Duration::rep>(static_cast<double>(done.span.count()) / done.train_units));
    unit_span_ += (unit_span - unit_span_) / kSmoothing;
  }
  if (auto* outcome = std::get_if<engine::LeaseOutcome>(&done.outcome)) {
    outcomes_.computed(done.task, std::move(*outcome), done.span);
  } else {
    outcomes_.computed_eval(done.task, std::get<1>(std::move(done.outcome)), done.span);
  }
  if (kin_ == nullptr) {
    await_more(done);
  } else if (under_way_ == 0) {
    own_work_at_ = steady_now();
    begin_helping();
  }
}

void Slots::wait_for_bell() {
  bell_->async_wait(asio::posix::descriptor_base::wait_read, [this](const std::error_code& ended) {
    if (ended) return;
    std::uint64_t rung = 0;
    [[maybe_unused]] const auto count = read(bell_->native_handle(), &rung, sizeof rung);
    begin_helping();
    wait_for_bell();
  });
}

bool Slots::may_help() const {
  return kin_ != nullptr && !ended_ && under_way_ == 0 && measuring_ == 0 && on_crew_ == 0;
}

void Slots::begin_helping() {
  if (helping_ || !may_help()) return;
  helping_ = true;
  helped_at_ = steady_now();
  core_.let_go();
  kin_->wake_up();
  asio::post(io_, [this] { help(); });
}

// Until there is work of our own, or nobody has called for a while.
void Slots::help() {
  const Time stint_end = steady_now() + kStint;
  while (may_help() && steady_now() - helped_at_ < kKinSpan) {
    if (steady_now() > stint_end) {
      asio::post(io_, [this] { help(); });
      return;
    }
    if (help_once()) {
      helped_at_ = steady_now();
    } else {
      for (int i = 0; i < kPauses; ++i) _mm_pause();
      sched_yield();
    }
    look_now_and_then();
  }
  rest();
}

// A system call each time: work of our own can wait for as long as a block takes.
void Slots::look_now_and_then() {
  const Time now = steady_now();
  if (now - looked_at_ < kLookEvery) return;
  looked_at_ = now;
  outcomes_.look();
}

bool Slots::at_work_anyway() const { return steady_now() - own_work_at_ < kOwnSpan; }

bool Slots::help_once() {
  const auto task = kin_->next_task(at_work_anyway(), buffers_);
  if (!task) return false;
  const Time start = steady_now();
  try {
    kin_->hand_over(
        *task, engine::compute_block(crew_->lend_first(), workshop_->job, workshop_->genesis.layout,
                                     task->weights, task->step, task->block, buffers_));
    outcomes_.helped(spent_since(start));
  } catch (const std::exception& failed) {
    outcomes_.failed(compute_error(failed));
  }
  return true;
}

void Slots::rest() {
  helping_ = false;
  if (!may_help()) return;
  kin_->fall_asleep();
  if (kin_->is_wanted(at_work_anyway())) {  // since we looked: nobody rings for that
    begin_helping();
    return;
  }
  const Time now = steady_now();
  if (options_.wakeful && wait_.begin(now, kWakeful)) core_.keep(sched_getcpu(), now + kWakeful);
}

// With several slots there is no telling whose turn is next.
void Slots::await_more(const Done& done) {
  const bool waits = options_.wakeful && crew_->size() == 1 && under_way_ == 0;
  if (!waits || done.span > kShortWork) return;
  const Time now = steady_now();
  if (wait_.begin(now, kWakeful)) core_.keep(done.core, now + kWakeful);
}

// Shared by the slots that measure, touched on the I/O thread alone.
struct Slots::Measuring {
  std::size_t slots_left = 0;
  std::uint64_t units = 0;
  Duration span_sum{};
};

void Slots::measure(engine::MeasureSlots work) {
  const auto measuring = std::make_shared<Measuring>();
  ++measuring_;
  measuring->slots_left = crew_->size();
  auto task = [this, work = std::move(work), measuring](engine::UnitComputer& computer) {
    SlotSpeed speed;
    std::optional<Error> error;
    try {
      speed = measure_slot(computer, *workshop_, work.weights, work.span, buffers_);
    } catch (const std::exception& failed) {
      error = compute_error(failed);
    }
    asio::post(io_, [this, measuring, speed, error] {
      if (error) return outcomes_.failed(*error);  // the end of this node
      measuring->units += speed.units;
      measuring->span_sum += speed.span;
      if (--measuring->slots_left > 0) return;
      --on_crew_;
      --measuring_;
      if (kin_ != nullptr) begin_helping();
      outcomes_.measured(measuring->units,
                         measuring->span_sum / static_cast<Duration::rep>(crew_->size()));
    });
  };
  submit_once_free(std::move(task));
}

// Behind what is done on this thread: the first slot's computer is needed there.
void Slots::submit_once_free(Crew::Task task) {
  asio::post(io_, [this, task = std::move(task)] {
    if (on_io_ == 0) {
      ++on_crew_;
      crew_->submit_each(task);
    } else {
      submit_once_free(task);
    }
  });
}

}  // namespace wide::net
