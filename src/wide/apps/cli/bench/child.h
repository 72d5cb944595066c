#pragma once
// A process that a bench started.

#include <sys/types.h>

#include <functional>
#include <utility>

#include "wide/apps/cli/process_facts.h"

namespace wide::apps::bench {

class Child final {
 public:
  enum class Fate {
    kKilled,  // when we end, however we do
    kStays,   // until it sees for itself
  };

  // Forks; `body` runs there and must not come back. Where we have other threads it may only do
  // what is safe between fork and exec. Failure: kMachine.
  Child(const std::function<void()>& body, Fate fate);
  ~Child();  // ends it at once
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // While it stands still it takes no time from anyone.
  void stand_still() const;
  void go_on() const;
  int wait();  // for its end, once; its exit code, or 128 + the signal that ended it

  pid_t id() const { return id_; }
  double cpu_seconds() const { return cpu_seconds_of(id_); }
  Memory memory() const { return memory_of(id_); }

 private:
  pid_t id_;
  bool waited_for_ = false;
};

}  // namespace wide::apps::bench
