#include "wide/store/checkpoint_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "wide/base/check.h"
#include "wide/store/tensor_header.h"

namespace wide::store {
namespace {

constexpr std::uint64_t kStateTensorMax = std::uint64_t{1} << 30;  // an extent has 32 bits
constexpr std::size_t kHotBytes = 256u << 10;  // hashed while still in the processor's cache

tl::unexpected<Error> file_damaged(const Disk& disk, const FileFacts& file, std::string_view why) {
  return fail(Errc::kCheckpointDamaged, fmt::format("{}: {}", disk.path(file.name()), why));
}

Result<CheckpointFile> file_of(std::span<const TensorView> tensors, const Floats& values,
                               Step step) {
  auto prefix = format_tensor_prefix(tensors, {{"step", fmt::to_string(step)}});
  if (!prefix) return tl::unexpected(std::move(prefix.error()));
  return CheckpointFile(std::move(*prefix), values);
}

// Opened, where it is there and as long as it should be.
Result<DiskFilePtr> open_wanted(Disk& disk, const FileFacts& wanted) {
  auto file = disk.open(wanted.name(), Open::kRead);
  if (!file) return fail(Errc::kCheckpointDamaged, std::move(file.error().detail));
  if ((*file)->size_bytes() != wanted.size_bytes) {
    return file_damaged(
        disk, wanted,
        fmt::format("it has {} bytes, {} were written", (*file)->size_bytes(), wanted.size_bytes));
  }
  return file;
}

class ValuesReader final {
 public:
  ValuesReader(Disk& disk, const FileFacts& wanted, DiskFilePtr file)
      : disk_(disk), wanted_(wanted), file_(std::move(file)) {}

  Result<Floats> read(BufferPool& buffers);

 private:
  Result<std::string> read_header();
  Result<void> read_hashed(std::span<std::byte> into);
  tl::unexpected<Error> damaged(std::string_view why) const {
    return file_damaged(disk_, wanted_, why);
  }

  Disk& disk_;
  const FileFacts& wanted_;
  DiskFilePtr file_;
  std::uint64_t offset_bytes_ = 0;
  Sha256 hash_;
};

Result<void> ValuesReader::read_hashed(std::span<std::byte> into) {
  while (!into.empty()) {
    const auto piece = into.first(std::min(into.size(), kHotBytes));
    if (auto done = file_->read(offset_bytes_, piece); !done) {
      return fail(Errc::kCheckpointDamaged, std::move(done.error().detail));
    }
    hash_.update(piece);
    offset_bytes_ += piece.size();
    into = into.subspan(piece.size());
  }
  return {};
}

Result<std::string> ValuesReader::read_header() {
  std::uint64_t length = 0;
  if (wanted_.size_bytes < sizeof(length)) return damaged("too short for tensors");
  auto done = read_hashed(std::as_writable_bytes(std::span(&length, 1)));
  if (!done) return tl::unexpected(std::move(done.error()));
  if (length > wanted_.size_bytes - sizeof(length) || length > kTensorHeaderBytesMax) {
    return damaged(fmt::format("at byte 0: a header of {} bytes", length));
  }
  std::string header(length, '\0');
  done = read_hashed(std::as_writable_bytes(std::span(header)));
  if (!done) return tl::unexpected(std::move(done.error()));
  return header;
}

Result<Floats> ValuesReader::read(BufferPool& buffers) {
  const auto header = read_header();
  if (!header) return tl::unexpected(header.error());
  const auto values_bytes = wanted_.size_bytes - offset_bytes_;
  const auto tensors = parse_tensor_header(*header, values_bytes, disk_.path(wanted_.name()));
  if (!tensors) return fail(Errc::kCheckpointDamaged, tensors.error().detail);

  auto values = take_floats(buffers, values_bytes / sizeof(float));
  auto done = read_hashed(std::as_writable_bytes(values.values));
  if (!done) return tl::unexpected(std::move(done.error()));
  if (hash_.finish() != wanted_.sha256) return damaged("its hash is not its name");
  return values;
}

}  // namespace

CheckpointFile::Piece CheckpointFile::piece(std::uint64_t offset_bytes,
                                            std::uint64_t bytes_max) const {
  const auto cut = [&](std::span<const std::byte> bytes) {
    const auto start = std::min<std::uint64_t>(offset_bytes, bytes.size());
    const auto count = std::min<std::uint64_t>(bytes_max, bytes.size() - start);
    offset_bytes -= start;
    bytes_max -= count;
    return bytes.subspan(start, count);
  };
  const auto prefix = cut(prefix_);
  return {prefix, cut(values_.bytes())};
}

Result<CheckpointFile> weights_file(const Floats& weights, std::span<const TensorPlace> places,
                                    Step step) {
  std::vector<TensorView> tensors;
  std::uint64_t filled = 0;
  for (const auto& place : places) {
    WIDE_CHECK(place.offset == filled && place.size <= weights.size() - filled,
               "places follow one another");
    tensors.push_back({place.name, place.shape, weights.values.subspan(place.offset, place.size)});
    filled += place.size;
  }
  WIDE_CHECK(filled == weights.size(), "places fill the array");
  return file_of(tensors, weights, step);
}

Result<CheckpointFile> state_file(const Floats& state, Step step) {
  std::vector<TensorView> tensors;
  for (std::uint64_t at = 0; at < state.size(); at += kStateTensorMax) {
    const auto count = std::min<std::uint64_t>(kStateTensorMax, state.size() - at);
    tensors.push_back({fmt::format("state.{}", tensors.size()),
                       {static_cast<std::uint32_t>(count)},
                       state.values.subspan(at, count)});
  }
  return file_of(tensors, state, step);
}

tl::unexpected<Error> FileCheck::damaged(const Disk& disk, std::string_view why) const {
  return file_damaged(disk, wanted_, why);
}

Result<bool> FileCheck::step(Disk& disk) {
  if (!file_) {
    auto opened = open_wanted(disk, wanted_);
    if (!opened) return tl::unexpected(std::move(opened.error()));
    file_ = std::move(*opened);
  }
  const auto end_bytes = std::min(offset_bytes_ + kPieceBytes, wanted_.size_bytes);
  piece_.resize(std::min<std::uint64_t>(kHotBytes, wanted_.size_bytes));
  while (offset_bytes_ < end_bytes) {
    const auto piece =
        std::span(piece_).first(std::min<std::uint64_t>(piece_.size(), end_bytes - offset_bytes_));
    if (auto done = file_->read(offset_bytes_, piece); !done) {
      return fail(Errc::kCheckpointDamaged, std::move(done.error().detail));
    }
    hash_.update(piece);
    offset_bytes_ += piece.size();
  }
  if (offset_bytes_ < wanted_.size_bytes) return false;
  if (hash_.finish() != wanted_.sha256) return damaged(disk, "its hash is not its name");
  return true;
}

Result<Floats> read_values(Disk& disk, const FileFacts& wanted, BufferPool& buffers) {
  auto file = open_wanted(disk, wanted);
  if (!file) return tl::unexpected(std::move(file.error()));
  return ValuesReader(disk, wanted, std::move(*file)).read(buffers);
}

}  // namespace wide::store
