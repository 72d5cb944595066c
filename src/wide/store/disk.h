#pragma once
// The disk as a run sees it: one folder, names below it, and the few verbs that decide what
// survives. RealDisk asks the kernel; the simulator has one that forgets, on a crash, whatever it
// may forget.
//
//   append                     in the kernel's hands: survives kill -9, not a power cut
//   sync                       of a file: what was appended is on the disk
//   create, rename, remove     in the kernel's hands, until the folder is synced
//
// Errors: kDiskFull        there may be room later
//         kSyncFailed      end the process: a kernel that failed to sync may have dropped the
//         bytes,
//                          and a second sync would say that all is well
//         kRunMissing      no such file
//         kCannotRead, kCannotWrite
//
// A Disk may be used by several threads, a DiskFile by one; only sync() may be called on any thread
// beside whatever else goes on.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wide/base/error.h"

namespace wide::store {

using Pieces = std::span<const std::span<const std::byte>>;

class DiskFile {
 public:
  virtual ~DiskFile() = default;

  // At the end. On an error some of it may be there: cut().
  virtual Result<void> append(Pieces pieces) = 0;
  // Zeros behind the end, for what will be appended there: then that changes neither the file's
  // size nor its map, and a sync has only the bytes themselves to wait for. They are no part of
  // size_bytes(), but whoever opens the file later finds them; cut() takes them away. On an error
  // there are none.
  virtual Result<void> make_room(std::uint64_t bytes) = 0;
  virtual Result<void> sync() = 0;
  virtual Result<void> cut(std::uint64_t size_bytes) = 0;
  // All of `into`, or kCannotRead where the file is shorter.
  virtual Result<void> read(std::uint64_t offset_bytes, std::span<std::byte> into) const = 0;
  virtual std::uint64_t size_bytes() const = 0;
};
using DiskFilePtr = std::shared_ptr<DiskFile>;

enum class Open {
  kRead,
  kAppend,  // made where it is missing
  kAnew,    // a new, empty file in the place of whatever was there
};

class Disk {
 public:
  virtual ~Disk() = default;

  virtual Result<DiskFilePtr> open(std::string_view name, Open how) = 0;
  virtual Result<void> rename(std::string_view from, std::string_view to) = 0;
  virtual Result<void> remove(std::string_view name) = 0;
  virtual Result<void> make_folder(std::string_view name) = 0;  // good where it is there
  virtual Result<void> sync_folder(std::string_view name) = 0;  // "": the run folder itself
  // Names of files, without the folder's, sorted. kRunMissing: no such folder.
  virtual Result<std::vector<std::string>> list(std::string_view folder) = 0;
  virtual Result<std::uint64_t> room_bytes() = 0;             // that are free
  virtual std::string path(std::string_view name) const = 0;  // for messages
};

// The whole of a file that is known to be small.
Result<std::vector<std::byte>> read_whole(Disk& disk, std::string_view name);

// Written aside, synced, renamed, the folder synced: a reader sees the old file or the new one,
// now and after a power cut.
Result<void> write_whole(Disk& disk, std::string_view name, Pieces pieces);

// The same through a name of one's own choice, in the same folder: for where several may write.
Result<void> write_whole_through(Disk& disk, std::string_view aside, std::string_view name,
                                 Pieces pieces);

// Names that write_whole and its like use until they rename; what a crash left of them is rubbish.
std::string aside_name(std::string_view name);
bool is_aside(std::string_view name);

// "checkpoints" of "checkpoints/a"; "" of "a".
std::string_view folder_of(std::string_view name);

}  // namespace wide::store
