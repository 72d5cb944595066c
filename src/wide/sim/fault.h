#pragma once
// Everything that can go wrong in a simulation, by name, and how often it did.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace wide::sim {

enum class Fault : std::uint8_t {
  // The network's.
  kReset,        // a link breaks; both sides are told
  kBlackHole,    // a link swallows everything; nobody is told
  kPartition,    // one way between a machine and the pool stands still, new calls included
  kClog,         // all links stand still one by one, and are released in random order
  kSlowReader,   // one side of a link reads a little at a time
  kSingleBytes,  // a link hands over byte by byte
  kBitFlip,      // on the way
  kLostCall,     // a call that is never answered
  // The disk's.
  kAppendError,  // EIO
  kReadError,
  kSyncError,
  kNameError,  // of open, rename, remove, make_folder
  kDiskFull,
  kSlowDisk,
  kLostWrites,  // at a power cut: all that was not synced of a file
  kTornWrites,  //   some sectors of it
  kLostNames,   //   a file that was made, renamed or removed
  kBitRot,
  // The pool's.
  kPoolKill,  // kill -9
  kPoolPowerCut,
  kPoolCrashInDisk,  // either, in the middle of an operation on the disk
  kPoolCrashInBoot,  // the same while it comes back
  kPoolPause,        // SIGSTOP
  kPoolStop,         // the owner interrupts it, and resumes it later
  // The nodes'.
  kNodeKill,    // the machine lives: its kernel hangs up
  kNodeVanish,  // it does not
  kNodeLeave,
  kNodePause,
  kNodeSlow,
  kStall,  // one lease takes far longer than usual
  kLostReplica,
  kRepeat,  // a result, again
  kWrongStep,
  kWrongBlock,
  kWrongCount,
  kWrongChain,
  kUnknownLease,
  kNotFinite,
  kOutOfOrder,  // a message that is not its turn
  kGarbage,     // bytes that are no frame
  kCount_,
};

inline constexpr std::size_t kFaultCount = static_cast<std::size_t>(Fault::kCount_);

std::string_view fault_name(Fault fault);  // "one-way partition"

class FaultCounts final {
 public:
  void add(Fault fault) { ++counts_[static_cast<std::size_t>(fault)]; }
  void add(const FaultCounts& other) {
    for (std::size_t i = 0; i < kFaultCount; ++i) counts_[i] += other.counts_[i];
  }
  std::uint64_t of(Fault fault) const { return counts_[static_cast<std::size_t>(fault)]; }
  std::uint64_t total() const {
    std::uint64_t sum = 0;
    for (const auto count : counts_) sum += count;
    return sum;
  }

  friend bool operator==(const FaultCounts&, const FaultCounts&) = default;

 private:
  std::array<std::uint64_t, kFaultCount> counts_{};
};

}  // namespace wide::sim
