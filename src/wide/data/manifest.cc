#include "wide/data/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "wide/base/bytes.h"
#include "wide/base/check.h"

namespace wide::data {
namespace {

constexpr std::string_view kMagic = "wide samples 1\n";

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

tl::unexpected<Error> refuse(std::string_view why) {
  return fail(Errc::kSamplesCorrupt, fmt::format("manifest: {}", why));
}

void put_part(ByteWriter& writer, const Part& part) {
  writer.put(static_cast<std::uint8_t>(part.type));
  writer.put(part.count);
  writer.put(part.record_elements);
  writer.put(part.stride_elements);
  writer.put(part.records_per_chunk);
  writer.put(part.first_chunk);
}

Part get_part(ByteReader& reader) {
  Part part;
  const auto type = reader.get<std::uint8_t>();
  part.type = static_cast<ElementType>(type);
  const auto last = static_cast<std::uint8_t>(ElementType::kF32);
  if (type < static_cast<std::uint8_t>(ElementType::kU8) || type > last) reader.refuse();
  part.count = reader.get<std::uint64_t>();
  part.record_elements = reader.get<std::uint64_t>();
  part.stride_elements = reader.get<std::uint64_t>();
  part.records_per_chunk = reader.get<std::uint64_t>();
  part.first_chunk = reader.get<std::uint64_t>();
  return part;
}

void get_space(ByteReader& reader, Manifest& manifest) {
  auto& space = manifest.space;
  space.train_count = reader.get<std::uint64_t>();
  space.eval_count = reader.get<std::uint64_t>();
  manifest.eval_fraction = reader.get<double>();
  space.class_count = reader.get<std::uint32_t>();
  space.target_count = reader.get<std::uint32_t>();
  const auto tokens = reader.get<std::uint8_t>();
  if (tokens > 1) reader.refuse();
  space.tokens = tokens == 1;
  const auto rank = reader.get<std::uint8_t>();
  for (unsigned axis = 0; axis < rank; ++axis) {
    space.sample_shape.push_back(reader.get<std::uint32_t>());
  }
}

Result<void> get_chunks(ByteReader& reader, Manifest& manifest) {
  const auto count = reader.get<std::uint64_t>();
  if (!reader.ok() || count > reader.left() / sizeof(Digest::bytes) ||
      count * sizeof(Digest::bytes) != reader.left()) {
    return refuse(fmt::format("{} bytes are left for {} hashes", reader.left(), count));
  }
  if (count != manifest.space.chunk_count) {
    return refuse(fmt::format("{} hashes for {} chunks", count, manifest.space.chunk_count));
  }
  manifest.chunks.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) manifest.chunks.push_back(reader.digest());
  return {};
}

void add_chunks(const Manifest& manifest, RecordPlace place, std::vector<std::uint64_t>& chunks) {
  chunks.push_back(manifest.parts[place.part].chunk_of(place.record));
  const auto& targets = manifest.parts[place.part + 1];
  if (targets.count > 0) chunks.push_back(targets.chunk_of(place.record));
}

}  // namespace

std::vector<std::byte> encode_manifest(const Manifest& manifest) {
  const auto& space = manifest.space;
  ByteWriter writer(256 + manifest.chunks.size() * sizeof(Digest::bytes));
  writer.raw(bytes_of(kMagic));
  writer.put(space.train_count);
  writer.put(space.eval_count);
  writer.put(manifest.eval_fraction);
  writer.put(space.class_count);
  writer.put(space.target_count);
  writer.put(static_cast<std::uint8_t>(space.tokens));
  writer.put(static_cast<std::uint8_t>(space.sample_shape.size()));
  for (const auto extent : space.sample_shape) writer.put(extent);
  for (const auto& part : manifest.parts) put_part(writer, part);
  writer.put(std::uint64_t{manifest.chunks.size()});
  for (const auto& chunk : manifest.chunks) writer.digest(chunk);
  return writer.take();
}

Digest manifest_root(const Manifest& manifest) { return sha256(encode_manifest(manifest)); }

Result<Manifest> decode_manifest(std::span<const std::byte> bytes) {
  if (bytes.size() > kManifestBytesMax) return refuse(fmt::format("{} bytes", bytes.size()));
  ByteReader reader(bytes);
  const auto magic = reader.raw(kMagic.size());
  if (!std::ranges::equal(magic, bytes_of(kMagic))) return refuse("does not begin like one");

  Manifest manifest;
  get_space(reader, manifest);
  for (auto& part : manifest.parts) part = get_part(reader);
  if (!reader.ok()) return refuse("cut short, or a field that cannot be");
  if (auto good = settle_manifest(manifest); !good) return tl::unexpected(std::move(good.error()));
  if (auto good = get_chunks(reader, manifest); !good) {
    return tl::unexpected(std::move(good.error()));
  }
  manifest.space.sha256 = sha256(bytes);
  return manifest;
}

RecordFinder::RecordFinder(const Manifest& manifest)
    : hold_out_(manifest.parts[kTrainSamples].count, manifest.eval_fraction,
                manifest.space.tokens ? HoldOut::Place::kAtEnd : HoldOut::Place::kSpaced),
      apart_(manifest.parts[kEvalSamples].count > 0) {}

void add_chunks_of_train(const Manifest& manifest, std::uint64_t index,
                         std::vector<std::uint64_t>& chunks) {
  WIDE_CHECK(index < manifest.space.train_count, "no such sample");
  add_chunks(manifest, RecordFinder(manifest).train(index), chunks);
}

void add_chunks_of_eval(const Manifest& manifest, std::uint64_t index,
                        std::vector<std::uint64_t>& chunks) {
  WIDE_CHECK(index < manifest.space.eval_count, "no such sample");
  add_chunks(manifest, RecordFinder(manifest).eval(index), chunks);
}

const Part& part_of_chunk(const Manifest& manifest, std::uint64_t chunk) {
  WIDE_CHECK(chunk < manifest.space.chunk_count, "no such chunk");
  for (const auto& part : manifest.parts) {
    if (part.count > 0 && chunk < part.first_chunk + part.chunk_count()) return part;
  }
  WIDE_CHECK(false, "parts cover all chunks");
  return manifest.parts[0];
}

std::uint64_t chunk_bytes(const Manifest& manifest, std::uint64_t chunk) {
  return part_of_chunk(manifest, chunk).chunk_bytes(chunk);
}

}  // namespace wide::data
