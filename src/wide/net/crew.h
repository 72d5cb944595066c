#pragma once
// The slots of a node: one computer and one thread each. Threads start when there is first
// something for them to do: a node that computes on its I/O thread never has any.
//
//   submit(task)       some free slot does it
//   submit_each(task)  every slot does it once, at the same time as the others
//
// Tasks come from the I/O thread and hand their outcome back by posting to it; nothing else is
// shared. On destruction every slot stops after the unit at hand, and what waits is dropped.

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "wide/engine/unit_computer.h"

namespace wide::net {

class Crew final {
 public:
  using Task = std::function<void(engine::UnitComputer&)>;
  using Computers = std::vector<std::unique_ptr<engine::UnitComputer>>;

  explicit Crew(Computers computers);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  void submit(Task task);
  void submit_each(const Task& task);

  // The first slot's computer, for a task done on the calling thread. Only while no slot works.
  engine::UnitComputer& lend_first() { return *slots_.front().computer; }
  std::size_t size() const { return slots_.size(); }

 private:
  struct Slot {
    std::unique_ptr<engine::UnitComputer> computer;
    std::deque<Task> own;  // for this slot alone
  };

  void start_threads();
  void work(Slot& slot);
  bool next_task(Slot& slot, Task& task);  // false: time to stop

  std::atomic<bool> stopping_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Slot> slots_;
  std::deque<Task> waiting_;
  std::vector<std::thread> threads_;
};

}  // namespace wide::net
