#pragma once
// Buffer: bytes on a 64-byte boundary, with one owner or shared and then never written again.
// BufferPool keeps freed ones for reuse, so that a step allocates nothing once it is warm.
// Floats: a run of float32 inside a Buffer that it keeps alive. Gradients, updates and snapshots
// travel from slot to socket to tree as Floats, without copies.
// Bytes: runs of bytes wherever they lie (a mapped file, a buffer), and what keeps them there.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace wide {

class Buffer final {
 public:
  explicit Buffer(std::size_t capacity_bytes);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  std::byte* begin() { return bytes_; }
  const std::byte* begin() const { return bytes_; }
  std::size_t capacity_bytes() const { return capacity_bytes_; }
  std::span<std::byte> first(std::size_t count) { return {bytes_, count}; }

 private:
  std::byte* bytes_;
  std::size_t capacity_bytes_;
};

using BufferPtr = std::shared_ptr<Buffer>;

// Safe on any thread. Buffers may outlive the pool.
class BufferPool final {
 public:
  explicit BufferPool(std::size_t kept_bytes_max = 256u << 20);

  // At least `bytes` long; contents are whatever was there.
  BufferPtr take(std::size_t bytes);

 private:
  struct Shelf;
  std::shared_ptr<Shelf> shelf_;
};

struct Floats {
  BufferPtr owner;
  std::span<float> values;  // written only while `owner` is held by one alone

  std::size_t size() const { return values.size(); }
  bool empty() const { return values.empty(); }
  std::span<const std::byte> bytes() const { return std::as_bytes(values); }
};

struct Bytes {
  std::shared_ptr<const void> owner;
  std::vector<std::span<const std::byte>> runs;  // in order

  std::size_t size() const {
    std::size_t total = 0;
    for (const auto run : runs) total += run.size();
    return total;
  }
  // Of bytes that came over the wire: they lie in one piece.
  std::span<const std::byte> joined() const {
    return runs.empty() ? std::span<const std::byte>() : runs.front();
  }
};

// Uninitialised floats from `pool`.
Floats take_floats(BufferPool& pool, std::size_t count);

}  // namespace wide
