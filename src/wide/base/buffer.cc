#include "wide/base/buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <map>
#include <new>

namespace wide {

namespace {
constexpr std::size_t kCacheLineBytes = 64;
constexpr std::size_t kHugePageBytes = 2u << 20;
constexpr std::size_t kSmallestBytes = 256;

// A large buffer lies on huge pages where the kernel has them: filling a fresh one then costs 512
// times fewer faults, which is much of what a pool with a large model does when it comes back.
std::align_val_t alignment(std::size_t bytes) {
  return std::align_val_t{bytes >= 2 * kHugePageBytes ? kHugePageBytes : kCacheLineBytes};
}

std::byte* allocate(std::size_t bytes) {
  void* memory = ::operator new(bytes, alignment(bytes));
  if (alignment(bytes) == std::align_val_t{kHugePageBytes}) {
    ::madvise(memory, bytes / kHugePageBytes * kHugePageBytes, MADV_HUGEPAGE);
  }
  return static_cast<std::byte*>(memory);
}

// Sizes are rounded so that messages of nearly one size share buffers: to a power of two while
// small, to an eighth of one when large, which wastes at most 12 %.
std::size_t rounded(std::size_t bytes) {
  bytes = std::max(bytes, kSmallestBytes);
  if (bytes <= 65536) return std::bit_ceil(bytes);
  const std::size_t grain = std::bit_floor(bytes) / 8;
  return (bytes + grain - 1) / grain * grain;
}
}  // namespace

Buffer::Buffer(std::size_t capacity_bytes)
    : bytes_(allocate(capacity_bytes)), capacity_bytes_(capacity_bytes) {}

Buffer::~Buffer() { ::operator delete(bytes_, alignment(capacity_bytes_)); }

struct BufferPool::Shelf {
  std::mutex mutex;
  std::map<std::size_t, std::vector<std::unique_ptr<Buffer>>> free;
  std::size_t kept_bytes = 0;
  std::size_t kept_bytes_max = 0;

  std::unique_ptr<Buffer> take(std::size_t bytes) {
    const std::lock_guard lock(mutex);
    const auto found = free.find(bytes);
    if (found == free.end() || found->second.empty()) return nullptr;
    auto buffer = std::move(found->second.back());
    found->second.pop_back();
    kept_bytes -= bytes;
    return buffer;
  }

  void give_back(std::unique_ptr<Buffer> buffer) {
    const std::lock_guard lock(mutex);
    if (kept_bytes + buffer->capacity_bytes() > kept_bytes_max) return;
    kept_bytes += buffer->capacity_bytes();
    free[buffer->capacity_bytes()].push_back(std::move(buffer));
  }
};

BufferPool::BufferPool(std::size_t kept_bytes_max) : shelf_(std::make_shared<Shelf>()) {
  shelf_->kept_bytes_max = kept_bytes_max;
}

BufferPtr BufferPool::take(std::size_t bytes) {
  const std::size_t wanted = rounded(bytes);
  auto buffer = shelf_->take(wanted);
  if (!buffer) buffer = std::make_unique<Buffer>(wanted);
  return BufferPtr(buffer.release(), [shelf = shelf_](Buffer* freed) {
    shelf->give_back(std::unique_ptr<Buffer>(freed));
  });
}

Floats take_floats(BufferPool& pool, std::size_t count) {
  BufferPtr owner = pool.take(count * sizeof(float));
  auto* first = reinterpret_cast<float*>(owner->begin());
  return {std::move(owner), {first, count}};
}

}  // namespace wide
