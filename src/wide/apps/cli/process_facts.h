#pragma once
// What the kernel says of processes, in /proc and by their clocks. Nothing, or zeros, of one that
// is gone.

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace wide::apps {

struct Memory {
  std::uint64_t private_bytes = 0;       // its own pages
  std::uint64_t proportional_bytes = 0;  // and its part of those that it shares
};

Memory memory_of(pid_t process);
double cpu_seconds_of(pid_t process);   // of all its threads, since it began
std::vector<pid_t> family(pid_t root);  // it and all that descend from it

std::string read_proc(const std::string& path);  // whole; "" where it cannot be read

// As /proc/PID/smaps_rollup tells it. Pure.
Memory read_memory(std::string_view smaps_rollup);

}  // namespace wide::apps
