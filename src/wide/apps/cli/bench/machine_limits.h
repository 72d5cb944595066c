#pragma once
// What this machine can do at best, measured without anything of ours in between: the yardsticks.
// Each takes about `seconds`. Failure where the machine does not let us look.

#include <filesystem>

namespace wide::apps::bench {

// One way over loopback TCP between two threads, a mebibyte at a time.
double loopback_bytes_per_second(double seconds);

// From the write of one byte into a loopback socket until the other thread, asleep until then, has
// read it: half of a round trip.
double wake_up_seconds(double seconds);

// Of 64 MB, which no cache holds.
double memcpy_bytes_per_second(double seconds);

// fdatasync behind an append of 4 KiB, in this folder.
double sync_seconds(const std::filesystem::path& folder, double seconds);

}  // namespace wide::apps::bench
