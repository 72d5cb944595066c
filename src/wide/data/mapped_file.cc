#include "wide/data/mapped_file.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace wide::data {
namespace {

constexpr std::uint64_t kBlockBytes = 64u << 10;  // what the kernel maps around a touched page
constexpr std::uint64_t kPageBytes = 64u << 10;   // a multiple of every machine's page

}  // namespace

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  const auto file = OpenFile::open(path);
  if (!file) return tl::unexpected(file.error());
  return map(*file);  // the mapping holds on to the file by itself
}

Result<MappedFile> MappedFile::map(const OpenFile& file) {
  const auto& stamp = file.stamp();
  if (stamp.size_bytes == 0) return MappedFile({}, stamp);  // mmap refuses zero bytes
  void* start = ::mmap(nullptr, stamp.size_bytes, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (start == MAP_FAILED) {
    return fail(Errc::kSamplesMissing,
                fmt::format("{}: {}", stamp.path.string(), std::strerror(errno)));
  }
  return MappedFile({static_cast<const std::byte*>(start), stamp.size_bytes}, stamp);
}

MappedFile::MappedFile(std::span<const std::byte> bytes, FileStamp stamp)
    : bytes_(bytes), stamp_(std::move(stamp)) {
  if (bytes_.size() <= kReadBytesKept) return;
  reading_ = std::make_unique<Reading>();
  ::madvise(const_cast<std::byte*>(bytes_.data()), bytes_.size(), MADV_RANDOM);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})),
      stamp_(std::move(other.stamp_)),
      reading_(std::move(other.reading_)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  std::swap(stamp_, other.stamp_);
  std::swap(reading_, other.reading_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

// Two threads may both find the count full and both give back: the second finds little to do.
void MappedFile::count_reading(std::uint64_t begin, std::uint64_t count) const {
  const auto first = begin / kBlockBytes;
  const auto last = (begin + std::max<std::uint64_t>(count, 1) - 1) / kBlockBytes;
  if (reading_->last_block.exchange(last, std::memory_order_relaxed) == first && first == last) {
    return;
  }
  const auto blocks = last - first + 1;
  const auto counted = reading_->block_count.fetch_add(blocks, std::memory_order_relaxed) + blocks;
  if (counted * kBlockBytes < kReadBytesKept) return;
  reading_->block_count.store(0, std::memory_order_relaxed);
  ::madvise(const_cast<std::byte*>(bytes_.data()), bytes_.size(), MADV_DONTNEED);
}

void MappedFile::announce(std::uint64_t begin, std::uint64_t count) const {
  if (count == 0) return;
  const auto page_begin = begin / kPageBytes * kPageBytes;  // the map begins on a page
  ::madvise(const_cast<std::byte*>(bytes_.data()) + page_begin, begin + count - page_begin,
            MADV_WILLNEED);
}

}  // namespace wide::data
