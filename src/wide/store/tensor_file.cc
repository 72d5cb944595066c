#include "wide/store/tensor_file.h"

#include <fmt/format.h>

#include <cstring>
#include <string_view>

#include "wide/base/bytes.h"
#include "wide/base/check.h"
#include "wide/store/atomic_file.h"
#include "wide/store/tensor_header.h"

namespace wide::store {
namespace {

constexpr std::size_t kAlignment = 64;  // values may be mapped and used where they lie

std::uint64_t value_count(const std::vector<std::uint32_t>& shape) {
  std::uint64_t count = 1;
  for (const auto extent : shape) count *= extent;
  return count;
}

TensorHeader lay_out(std::span<const TensorView> tensors, const Metadata& metadata) {
  TensorHeader header{.entries = {}, .metadata = metadata};
  std::uint64_t at_bytes = 0;
  for (const auto& tensor : tensors) {
    WIDE_CHECK(value_count(tensor.shape) == tensor.values.size(), "a shape that fits its values");
    const auto end_bytes = at_bytes + tensor.values.size_bytes();
    header.entries.push_back({tensor.name, tensor.shape, at_bytes, end_bytes});
    at_bytes = end_bytes;
  }
  return header;
}

// Spaces after the JSON, so that the values begin at a multiple of kAlignment.
void pad(std::string& json) {
  const auto unpadded_bytes = kTensorLengthBytes + json.size();
  json.append((kAlignment - unpadded_bytes % kAlignment) % kAlignment, ' ');
}

TensorFile::Tensor copy_tensor(const TensorEntry& entry, std::span<const std::byte> values) {
  const auto bytes = values.subspan(entry.begin_bytes, entry.end_bytes - entry.begin_bytes);
  TensorFile::Tensor tensor{entry.name, entry.shape,
                            std::vector<float>(bytes.size() / sizeof(float))};
  if (!bytes.empty()) std::memcpy(tensor.values.data(), bytes.data(), bytes.size());
  return tensor;
}

}  // namespace

Result<std::vector<std::byte>> format_tensor_prefix(std::span<const TensorView> tensors,
                                                    const Metadata& metadata) {
  auto json = format_tensor_header(lay_out(tensors, metadata));
  if (!json) return tl::unexpected(std::move(json.error()));
  pad(*json);
  if (json->size() > kTensorHeaderBytesMax) {
    return fail(Errc::kCannotWrite, fmt::format("the header would have {} bytes, {} are allowed",
                                                json->size(), kTensorHeaderBytesMax));
  }
  ByteWriter writer(kTensorLengthBytes + json->size());
  writer.put(std::uint64_t{json->size()});
  writer.raw(std::as_bytes(std::span(*json)));
  return writer.take();
}

Result<void> write_tensor_file(const std::filesystem::path& path,
                               std::span<const TensorView> tensors, const Metadata& metadata) {
  const auto prefix = format_tensor_prefix(tensors, metadata);
  if (!prefix) {
    return fail(prefix.error().code, fmt::format("{}: {}", path.string(), prefix.error().detail));
  }
  std::vector<std::span<const std::byte>> pieces = {*prefix};
  for (const auto& tensor : tensors) pieces.push_back(std::as_bytes(tensor.values));
  return write_atomically(path, pieces);
}

Result<TensorFile> read_tensor_file(const std::filesystem::path& path) {
  const auto bytes = read_whole_file(path, Errc::kRunMissing, Errc::kTensorFileCorrupt);
  if (!bytes) return tl::unexpected(bytes.error());
  return parse_tensor_file(*bytes, path.string());
}

Result<TensorFile> parse_tensor_file(std::span<const std::byte> bytes, std::string_view source) {
  ByteReader reader(bytes);
  const auto header_bytes = reader.get<std::uint64_t>();
  if (!reader.ok() || header_bytes > reader.left() || header_bytes > kTensorHeaderBytesMax) {
    return fail(
        Errc::kTensorFileCorrupt,
        fmt::format("{}: truncated, or no tensor file: a header of {} bytes in a file of {} "
                    "({} are allowed)",
                    source, header_bytes, bytes.size(), kTensorHeaderBytesMax));
  }
  const auto json = reader.raw(header_bytes);
  const auto values = reader.raw(reader.left());
  auto header = parse_tensor_header({reinterpret_cast<const char*>(json.data()), json.size()},
                                    values.size(), source);
  if (!header) return tl::unexpected(std::move(header.error()));

  TensorFile file{.tensors = {}, .metadata = std::move(header->metadata)};
  for (const auto& entry : header->entries) file.tensors.push_back(copy_tensor(entry, values));
  return file;
}

}  // namespace wide::store
