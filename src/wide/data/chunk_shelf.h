#pragma once
// The chunks that are at hand in this process: mapped from the cache, or, where the cache cannot
// keep them, in memory. Whoever is about to read holds the chunks it needs; what nobody holds may
// be put away when the shelf is full, that which was held longest ago first.
//
// Safe on any thread. bytes() and at_hand() of what is on the shelf take no lock.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "wide/base/buffer.h"
#include "wide/data/chunk_cache.h"
#include "wide/data/manifest.h"

namespace wide::data {

class ChunkShelf final {
 public:
  // While this lives its chunks stay on the shelf.
  using Hold = std::shared_ptr<const void>;

  struct Options {
    std::size_t mapped_count_max = 4096;          // maps are cheap, but the kernel counts them
    std::uint64_t memory_bytes_max = 256u << 20;  // of chunks that the cache could not keep
  };

  ChunkShelf(std::shared_ptr<const Manifest> manifest, std::shared_ptr<ChunkCache> cache,
             Options options);
  ~ChunkShelf();

  const Manifest& manifest() const { return *manifest_; }
  std::shared_ptr<const Manifest> shared_manifest() const { return manifest_; }

  // Is it here, or can it be taken from the cache now? The latter reads and checks it:
  // milliseconds.
  bool at_hand(std::uint64_t chunk);

  // A chunk that came over the network. kSamplesDiffer where it is not what the manifest names.
  // Where the cache cannot keep it, it is kept in memory, and that is said once.
  Result<void> put(std::uint64_t chunk, std::shared_ptr<const void> owner,
                   std::span<const std::byte> bytes);

  // All of them at once, or null where one is not on the shelf (any more).
  // Who needs more than the shelf has room for holds each as it comes, or the first are put away
  // before the last are there.
  Hold hold(std::span<const std::uint64_t> chunks);

  // The bytes of a chunk that somebody holds.
  std::span<const std::byte> bytes(std::uint64_t chunk) const {
    return {begin_of(chunk), chunk_bytes(*manifest_, chunk)};
  }

  // The same, for those who know the chunk's length.
  const std::byte* begin_of(std::uint64_t chunk) const;

 private:
  struct Entry;  // bytes, and what keeps them: a map or a buffer
  using EntryPtr = std::shared_ptr<Entry>;

  void place(std::uint64_t chunk, EntryPtr entry);  // puts others away where there are too many
  void put_away(bool mapped);
  bool too_many(bool mapped) const;
  void say_once(const Error& error);

  std::shared_ptr<const Manifest> manifest_;
  std::shared_ptr<ChunkCache> cache_;
  Options options_;
  // Where each chunk begins; null where it is not on the shelf. Written under the lock only.
  std::vector<std::atomic<const std::byte*>> begins_;

  std::mutex mutex_;
  std::unordered_map<std::uint64_t, EntryPtr> entries_;
  std::size_t mapped_count_ = 0;
  std::uint64_t memory_bytes_ = 0;
  std::uint64_t hold_count_ = 0;  // ever
  bool said_ = false;
};

}  // namespace wide::data
