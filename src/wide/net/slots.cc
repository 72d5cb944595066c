#include "wide/net/slots.h"

#include <sched.h>

#include <asio/post.hpp>

#include "wide/base/check.h"
#include "wide/net/signal_block.h"
#include "wide/net/steady.h"

namespace wide::net {

namespace {

constexpr Duration kShortUnit = std::chrono::milliseconds(3);
// Heartbeats wait while the I/O thread computes: a lease of many short units is not short.
constexpr Duration kShortLease = std::chrono::milliseconds(200);
// A core that halts shows beside work that takes no longer.
constexpr Duration kShortWork = std::chrono::milliseconds(4);
constexpr Duration kWakeful = std::chrono::milliseconds(5);
constexpr int kSmoothing = 8;  // one preempted unit among many changes nothing

Duration spent_since(Time start) { return steady_now() - start; }

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
  if (is_short(train_units(work))) {
    asio::post(io_, [this, work = std::move(work), samples = std::move(samples)] {
      deliver(perform(work, crew_->lend_first()));
    });
    return;
  }
  crew_->submit(
      [this, work = std::move(work), samples = std::move(samples)](engine::UnitComputer& computer) {
        auto done = perform(work, computer);
        asio::post(io_, [this, done = std::move(done)]() mutable { deliver(std::move(done)); });
      });
}

bool Slots::is_short(double train_units) const {
  return !measuring_ && crew_->size() == 1 && unit_span_ < kShortUnit &&
         train_units * seconds(unit_span_) < seconds(kShortLease);
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
  await_more(done);
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
  measuring_ = true;  // from now on the first slot's computer is its own thread's
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
      if (error) return outcomes_.failed(*error);
      measuring->units += speed.units;
      measuring->span_sum += speed.span;
      if (--measuring->slots_left > 0) return;
      measuring_ = false;
      outcomes_.measured(measuring->units,
                         measuring->span_sum / static_cast<Duration::rep>(crew_->size()));
    });
  };
  // Behind what is already posted: a short lease may still want the first slot's computer.
  asio::post(io_, [this, task = std::move(task)] { crew_->submit_each(task); });
}

}  // namespace wide::net
