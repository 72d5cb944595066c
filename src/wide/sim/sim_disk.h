#pragma once
// A disk in memory that keeps its promises and nothing else.
//
//   a file    [ firm: on the platter | present: what the kernel shows ]
//   a name    on the platter, or pending until its folder is synced
//
// kill() ends the process: all that the kernel was given stays. cut_power() ends the machine: of
// each file some, all or none of the sectors that were not synced are there, its size may or may
// not have grown, holes read as zeros; every pending name was or was not made, renamed or removed,
// one by one. Rot turns one bit of what is on the platter, and can be undone: the operator restores
// the file.
//
// crash_in(n): the n-th operation from now does a part of its work and throws SimCrash; from then
// on nothing has any effect, until kill() or cut_power() says what became of it.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "wide/base/clock.h"
#include "wide/sim/dice.h"
#include "wide/sim/fault.h"
#include "wide/store/disk.h"

namespace wide::sim {

// Thrown out of the middle of an operation. No std::exception: nobody but the world may catch it.
struct SimCrash final {};

struct DiskFaults {
  double append_chance = 0;  // that one such operation fails
  double read_chance = 0;
  double sync_chance = 0;
  double name_chance = 0;
  double slowness = 1;
};

class SimDisk final : public store::Disk {
 public:
  SimDisk(Dice dice, FaultCounts& counts) : dice_(dice), counts_(counts) {}

  Result<store::DiskFilePtr> open(std::string_view name, store::Open how) override;
  Result<void> rename(std::string_view from, std::string_view to) override;
  Result<void> remove(std::string_view name) override;
  Result<void> make_folder(std::string_view name) override;
  Result<void> sync_folder(std::string_view name) override;
  Result<std::vector<std::string>> list(std::string_view folder) override;
  Result<std::uint64_t> room_bytes() override { return room_bytes_; }
  std::string path(std::string_view name) const override { return "/run/" + std::string(name); }

  // What happens to it.
  void set_faults(const DiskFaults& faults) { faults_ = faults; }
  void set_room(std::uint64_t room_bytes) { room_bytes_ = room_bytes; }
  void crash_in(std::uint64_t operation_count) { crash_in_ = operation_count; }
  void kill();
  void cut_power();
  bool rot();                             // false: there is nothing to rot
  bool restore();                         // what rot has done; false: there is nothing to restore
  void give_up(std::string_view folder);  // what is rotten in it stays so

  // Questions.
  bool survives(std::string_view name) const;         // a power cut, with all that is in it now
  std::size_t rotten(std::string_view folder) const;  // so many bits of files in it
  std::uint64_t hash() const;                         // of all that a process could see
  std::uint64_t operation_count() const { return operation_count_; }
  Duration take_span();  // the time that operations took since last asked

  static constexpr std::uint64_t kRoomBytes = std::uint64_t{1} << 40;
  static constexpr std::size_t kSectorBytes = 512;

 private:
  class File;

  struct Inode {
    std::vector<std::byte> platter;
    std::vector<std::byte> present;
    std::size_t firm_bytes = 0;  // so many leading bytes are the same in both
  };
  using InodePtr = std::shared_ptr<Inode>;
  using Names = std::map<std::string, InodePtr, std::less<>>;  // a null one is a folder

  // A change of names that its folder has not been synced for.
  struct Pending {
    std::string folder;
    std::string from;  // empty: made
    std::string to;    // empty: removed
    InodePtr inode;
  };
  struct Rot {
    InodePtr inode;
    std::size_t offset_bytes = 0;
    std::byte bit{};
    bool for_good = false;
  };

  bool begin(Duration span);  // true: it is to crash
  [[noreturn]] void crash();
  bool strikes(double chance, Fault fault);
  Result<void> write(Inode& inode, std::uint64_t at_bytes, store::Pieces pieces);
  Result<void> sync(Inode& inode);
  Result<void> cut(Inode& inode, std::uint64_t size_bytes);
  Result<void> read(const Inode& inode, std::uint64_t offset_bytes, std::span<std::byte> into);
  Result<void> change(Pending change);
  void forget(Inode& inode);
  void forget_names();
  bool lies_in(const Inode& inode, std::string_view folder) const;
  void drop_rot(const Inode& inode, std::size_t from_bytes, std::size_t to_bytes);
  static void apply(Names& names, const Pending& change);

  Dice dice_;
  FaultCounts& counts_;
  DiskFaults faults_;
  std::uint64_t room_bytes_ = kRoomBytes;
  std::uint64_t crash_in_ = 0;  // 0: not
  bool dead_ = false;
  Names names_;
  Names platter_names_;
  std::vector<Pending> pending_;
  std::vector<Rot> rots_;
  std::uint64_t operation_count_ = 0;
  Duration span_{};
};

}  // namespace wide::sim
