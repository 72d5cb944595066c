#pragma once
// Failpoints: named places at which a test ends this process, or lets the disk fail, to see what
// survives. Only in builds with WIDE_FAILPOINTS; elsewhere they are nothing at all. Unarmed they
// cost one relaxed load.
//
//   arm_failpoints("ledger.append.after:3")     SIGKILL at the third hit
//   arm_failpoints("disk.sync:2:io")            the second sync fails, once
//   arm_failpoints("prune.before:1,disk.append:9:io")
//
// Safe on any thread. Only main reads the environment, and arms what it finds there.

#include <array>
#include <atomic>
#include <string_view>

#include "wide/base/error.h"

namespace wide {

inline constexpr std::array<std::string_view, 23> kFailpoints = {
    "ledger.append.before",
    "ledger.append.half",  // the header and half of the body are written
    "ledger.append.after",
    "ledger.sync.before",
    "ledger.sync.after",
    "ledger.cut.before",  // of a torn tail
    "ledger.cut.after",
    "ledger.segment.begun",
    "checkpoint.file.half",
    "checkpoint.file.synced",
    "checkpoint.file.renamed",
    "checkpoint.manifest.before",
    "checkpoint.manifest.renamed",
    "checkpoint.folder.synced",
    "checkpoint.generation.removed",
    "prune.before",
    "prune.renamed",
    "recovery.checkpoint.read",
    "recovery.record.read",
    "recovery.done",
    "disk.append",  // may fail instead: ":io", half of the bytes written and no room left
    "disk.cut",     // may fail instead: ":io"
    "disk.sync",    // may fail instead: ":io"
};
inline constexpr std::size_t kFailpointsWithErrors = 3;  // the last ones

#ifdef WIDE_FAILPOINTS

inline constexpr bool kHasFailpoints = true;

// Takes the place of what was armed before, counting hits anew; "" disarms. kUsage: not understood.
Result<void> arm_failpoints(std::string_view spec);

namespace base {
extern std::atomic<bool> failpoints_armed;
bool is_armed(std::string_view name);
bool hit_failpoint(std::string_view name);  // whether it fails; does not return where it ends
}  // namespace base

inline void failpoint(std::string_view name) {
  if (base::failpoints_armed.load(std::memory_order_relaxed)) base::hit_failpoint(name);
}
inline bool failpoint_error(std::string_view name) {
  return base::failpoints_armed.load(std::memory_order_relaxed) && base::hit_failpoint(name);
}
// For places that only exist where the work is cut in two for them.
inline bool failpoint_armed(std::string_view name) {
  return base::failpoints_armed.load(std::memory_order_relaxed) && base::is_armed(name);
}

#else

inline constexpr bool kHasFailpoints = false;

inline Result<void> arm_failpoints(std::string_view spec) {
  if (spec.empty()) return {};
  return fail(Errc::kUsage, "this wide was built without failpoints");
}
inline void failpoint(std::string_view) {}
inline bool failpoint_error(std::string_view) { return false; }
inline bool failpoint_armed(std::string_view) { return false; }

#endif

}  // namespace wide
