#include "wide/net/crew.h"

#include "wide/net/signal_block.h"

namespace wide::net {

namespace {

struct Stopped {};  // thrown between two units to leave a task early; never leaves this file

// A lease may hold many units; a crew that is told to stop must not wait for all of them.
class StoppableComputer final : public engine::UnitComputer {
 public:
  StoppableComputer(std::unique_ptr<engine::UnitComputer> inner, const std::atomic<bool>& stopping)
      : inner_(std::move(inner)), stopping_(stopping) {}

  double gradient(const engine::Weights& weights, Step step, Unit unit,
                  std::span<float> out) override {
    if (stopping_) throw Stopped{};
    return inner_->gradient(weights, step, unit, out);
  }
  engine::EvalOutcome evaluate(const engine::Weights& weights, std::uint64_t first,
                               std::uint64_t count) override {
    if (stopping_) throw Stopped{};
    return inner_->evaluate(weights, first, count);
  }

 private:
  std::unique_ptr<engine::UnitComputer> inner_;
  const std::atomic<bool>& stopping_;
};

}  // namespace

Crew::Crew(Computers computers) {
  for (auto& computer : computers) {
    Slot slot;
    slot.computer = std::make_unique<StoppableComputer>(std::move(computer), stopping_);
    slots_.push_back(std::move(slot));
  }
}

Crew::~Crew() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void Crew::submit(Task task) {
  start_threads();
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(task));
  }
  changed_.notify_one();
}

void Crew::submit_each(const Task& task) {
  start_threads();
  {
    const std::lock_guard lock(mutex_);
    for (auto& slot : slots_) slot.own.push_back(task);
  }
  changed_.notify_all();
}

void Crew::start_threads() {
  if (!threads_.empty()) return;
  const SignalBlock signals_stay_here;
  for (auto& slot : slots_) threads_.emplace_back(&Crew::work, this, std::ref(slot));
}

void Crew::work(Slot& slot) {
  Task task;
  try {
    while (next_task(slot, task)) {
      task(*slot.computer);
      task = nullptr;  // what it held (a version of the weights) is free before the next wait
    }
  } catch (const Stopped&) {
  }
}

bool Crew::next_task(Slot& slot, Task& task) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stopping_ || !slot.own.empty() || !waiting_.empty(); });
  if (stopping_) return false;
  auto& from = slot.own.empty() ? waiting_ : slot.own;
  task = std::move(from.front());
  from.pop_front();
  return true;
}

}  // namespace wide::net
