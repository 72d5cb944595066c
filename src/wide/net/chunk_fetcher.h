#pragma once
// Gets chunks of samples onto a node's shelf: from the cache on disk where they are there, else
// from the pool. Reading, checking and writing happen on a thread of their own; everything else,
// and every call, on the I/O thread.
//
//   want ─▶ on the shelf?  ─▶ in the cache?  ─▶ Fetch … Chunk ─▶ checked, kept ─▶ ready(hold)
//           at once            storing thread      the pool         storing thread
//
// A chunk that is not what the manifest says is asked for again, a few times. What was asked for on
// a link that broke is asked for on the next.

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/thread_pool.hpp>

#include "wide/data/chunk_shelf.h"
#include "wide/wire/messages.h"

namespace wide::net {

class ChunkFetcher final {
 public:
  using Hold = std::shared_ptr<const void>;
  using Ready = std::function<void(Hold)>;

  struct Outlets {
    std::function<void(wire::Fetch)> send;
    std::function<void(const Error&)> failed;
    // What would be good to have next, for moments when nothing is urgent.
    std::function<std::optional<std::uint64_t>()> foresee;
  };

  ChunkFetcher(asio::io_context& io, std::shared_ptr<data::ChunkShelf> shelf, Outlets outlets);
  ~ChunkFetcher();  // waits for the storing thread

  void linked();
  void unlinked();
  void arrived(wire::Chunk chunk);

  // Calls `ready` once all of them are on the shelf, now or later; they stay while the hold lives.
  void want(const std::vector<std::uint64_t>& chunks, Ready ready);
  // They will be wanted soon: fetched behind those that somebody waits for.
  void expect(const std::vector<std::uint64_t>& chunks);
  void fetch_ahead();

  std::uint64_t fetched_count() const { return fetched_count_; }
  std::uint64_t fetched_bytes() const { return fetched_bytes_; }

 private:
  enum class Stage { kLooking, kWanted, kAsked, kStoring };
  struct Waiter {
    std::vector<std::uint64_t> missing;
    std::vector<Hold> holds;
    Ready ready;
  };

  static void hand_over(Waiter& waiter);
  bool on_shelf(std::uint64_t chunk);
  bool awaited(std::uint64_t chunk) const;
  void look(std::uint64_t chunk);
  void looked(std::uint64_t chunk, bool found);
  void ask();
  void stored(std::uint64_t chunk, const Result<void>& kept);
  void settled(std::uint64_t chunk);

  asio::io_context& io_;
  std::shared_ptr<data::ChunkShelf> shelf_;
  Outlets outlets_;
  bool linked_ = false;
  std::unordered_map<std::uint64_t, Stage> stages_;
  std::deque<std::uint64_t> wanted_;
  std::size_t asked_count_ = 0;
  std::vector<std::unique_ptr<Waiter>> waiters_;
  std::uint64_t fetched_count_ = 0;
  std::uint64_t fetched_bytes_ = 0;
  int wrong_count_ = 0;
  asio::thread_pool storing_;
};

}  // namespace wide::net
