#include "wide/data/chunk_shelf.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "wide/base/check.h"
#include "wide/base/log.h"

namespace wide::data {

struct ChunkShelf::Entry {
  std::span<const std::byte> bytes;
  std::shared_ptr<const MappedFile> map;  // or
  std::shared_ptr<const void> buffer;
  std::uint64_t last_hold = 0;  // of all holds ever

  bool mapped() const { return map != nullptr; }
  std::uint64_t memory_bytes() const { return mapped() ? 0 : bytes.size(); }
};

ChunkShelf::ChunkShelf(std::shared_ptr<const Manifest> manifest, std::shared_ptr<ChunkCache> cache,
                       Options options)
    : manifest_(std::move(manifest)),
      cache_(std::move(cache)),
      options_(options),
      begins_(manifest_->chunks.size()) {
  WIDE_CHECK(manifest_->chunks.size() == manifest_->space.chunk_count, "a whole manifest");
}

ChunkShelf::~ChunkShelf() = default;

const std::byte* ChunkShelf::begin_of(std::uint64_t chunk) const {
  WIDE_CHECK(chunk < begins_.size(), "no such chunk");
  const auto* begin = begins_[chunk].load(std::memory_order_acquire);
  WIDE_CHECK(begin != nullptr, "read without holding its chunk");
  return begin;
}

bool ChunkShelf::at_hand(std::uint64_t chunk) {
  WIDE_CHECK(chunk < begins_.size(), "no such chunk");
  if (begins_[chunk].load(std::memory_order_acquire) != nullptr) return true;
  auto map = cache_->find(manifest_->chunks[chunk], chunk_bytes(*manifest_, chunk));
  if (!map) return false;
  const auto bytes = map->bytes();
  place(chunk, std::make_shared<Entry>(Entry{bytes, std::move(map), nullptr}));
  return true;
}

Result<void> ChunkShelf::put(std::uint64_t chunk, std::shared_ptr<const void> owner,
                             std::span<const std::byte> bytes) {
  if (chunk >= begins_.size()) {
    return fail(Errc::kSamplesDiffer, fmt::format("chunk {} is none of the {} that the manifest "
                                                  "names",
                                                  chunk, begins_.size()));
  }
  const auto& name = manifest_->chunks[chunk];
  if (bytes.size() != chunk_bytes(*manifest_, chunk) || sha256(bytes) != name) {
    return fail(Errc::kSamplesDiffer,
                fmt::format("chunk {} is not what the manifest names {}", chunk, name.short_hex()));
  }
  auto kept = cache_->keep(name, bytes);
  if (!kept) say_once(kept.error());
  if (kept) {
    const auto mapped = (*kept)->bytes();
    place(chunk, std::make_shared<Entry>(Entry{mapped, std::move(*kept), nullptr}));
  } else {
    place(chunk, std::make_shared<Entry>(Entry{bytes, nullptr, std::move(owner)}));
  }
  return {};
}

ChunkShelf::Hold ChunkShelf::hold(std::span<const std::uint64_t> chunks) {
  auto held = std::make_shared<std::vector<EntryPtr>>();
  held->reserve(chunks.size());
  const std::lock_guard lock(mutex_);
  ++hold_count_;
  for (const auto chunk : chunks) {
    const auto found = entries_.find(chunk);
    if (found == entries_.end()) return nullptr;
    found->second->last_hold = hold_count_;
    held->push_back(found->second);
  }
  return held;
}

// Where another thread was quicker its entry stays: somebody may be reading it.
void ChunkShelf::place(std::uint64_t chunk, EntryPtr entry) {
  const std::lock_guard lock(mutex_);
  const auto [found, is_new] = entries_.try_emplace(chunk, std::move(entry));
  if (!is_new) return;
  auto& placed = *found->second;
  placed.last_hold = ++hold_count_;
  mapped_count_ += placed.mapped() ? 1 : 0;
  memory_bytes_ += placed.memory_bytes();
  begins_[chunk].store(placed.bytes.data(), std::memory_order_release);
  put_away(placed.mapped());
}

bool ChunkShelf::too_many(bool mapped) const {
  return mapped ? mapped_count_ > options_.mapped_count_max
                : memory_bytes_ > options_.memory_bytes_max;
}

// Only the shelf itself hands out entries, under the lock, so one that it alone owns is nobody's
// and stays so while it is looked at.
void ChunkShelf::put_away(bool mapped) {
  if (!too_many(mapped)) return;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> idle;  // last hold, chunk
  for (const auto& [chunk, entry] : entries_) {
    if (entry->mapped() == mapped && entry.use_count() == 1 && entry->last_hold != hold_count_) {
      idle.emplace_back(entry->last_hold, chunk);
    }
  }
  std::ranges::sort(idle);
  for (const auto& [last_hold, chunk] : idle) {
    if (!too_many(mapped)) break;
    const auto found = entries_.find(chunk);
    mapped_count_ -= mapped ? 1 : 0;
    memory_bytes_ -= found->second->memory_bytes();
    begins_[chunk].store(nullptr, std::memory_order_release);
    entries_.erase(found);
  }
}

void ChunkShelf::say_once(const Error& error) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(said_, true)) return;
  log::info("chunks of samples cannot be cached, so they stay in memory: {}", describe(error));
}

}  // namespace wide::data
