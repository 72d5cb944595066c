#pragma once
// A process that a bench started, and what the kernel says of it. It dies with us, however we end.

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>

namespace wide::apps::bench {

struct Memory {
  std::uint64_t private_bytes = 0;       // its own pages
  std::uint64_t proportional_bytes = 0;  // and its part of those that it shares
};

class Child final {
 public:
  explicit Child(pid_t process) : process_(process) {}
  ~Child();  // ends it at once
  Child(Child&& other) noexcept : process_(std::exchange(other.process_, -1)) {}
  Child& operator=(Child&&) = delete;

  // While it stands still it takes no time from anyone.
  void stand_still() const;
  void go_on() const;

  double cpu_seconds() const;  // of all its threads, since it began
  Memory memory() const;

 private:
  pid_t process_;
};

// To be called in the child: it is killed when this thread's process ends.
void die_with(pid_t parent);

// Memory as /proc/PID/smaps_rollup tells it. Pure.
Memory read_memory(const std::string& smaps_rollup);

}  // namespace wide::apps::bench
