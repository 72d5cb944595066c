#pragma once
// Chunks on disk, named by their hash, for every job and every process of this user.
//
//   <folder>/<first two letters>/<sha256 in hex>      written aside, renamed when whole
//
// Kept below `bytes_max` by removing those that were used longest ago (a file's time of last change
// is the time of its last use). A chunk is checked against its name whenever it is opened: a
// damaged one is removed, said, and as good as never there. Any number of processes may use one
// folder; a chunk that is removed while another maps it stays readable there.
//
// Safe on any thread.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>

#include "wide/base/digest.h"
#include "wide/base/error.h"
#include "wide/data/mapped_file.h"

namespace wide::data {

class ChunkCache final {
 public:
  // An empty folder: nothing is kept.
  ChunkCache(std::filesystem::path folder, std::uint64_t bytes_max);

  // The chunk, mapped and checked; nothing where it is not there, or was damaged. Marks its use.
  std::shared_ptr<const MappedFile> find(const Digest& sha256, std::uint64_t bytes);

  // Keeps a chunk, which the caller has checked, and maps it. kCannotWrite where it cannot be kept
  // (the disk is full, most often): then it is not, and at most chunks that were used longest ago
  // are gone. Makes room first where bytes_max would be passed.
  Result<std::shared_ptr<const MappedFile>> keep(const Digest& sha256,
                                                 std::span<const std::byte> bytes);

 private:
  std::filesystem::path path_of(const Digest& sha256) const;
  void make_room(std::uint64_t bytes);

  std::filesystem::path folder_;
  std::uint64_t bytes_max_;
  std::mutex mutex_;
  // What this process may still write before it looks at the folder again: others write too.
  std::uint64_t bytes_unlooked_ = 0;
};

}  // namespace wide::data
