#include "wide/data/file_records.h"

#include "wide/base/check.h"

namespace wide::data {

RecordBytes FileRecords::at(RecordPlace place) const {
  RecordBytes found{.sample = record(place.part, place.record), .targets = {}};
  if (set_.files[place.part + 1]) found.targets = record(place.part + 1u, place.record);
  return found;
}

std::span<const std::byte> FileRecords::record(std::size_t place, std::uint64_t record) const {
  const auto& part = manifest_->parts[place];
  return set_.files[place]->read(record * part.stride_bytes(), part.record_bytes());
}

FileRecords::ChunkPlace FileRecords::find_chunk(std::uint64_t chunk) const {
  const auto& part = part_of_chunk(*manifest_, chunk);
  const auto place = static_cast<std::size_t>(&part - manifest_->parts.data());
  return {*set_.files[place], part.chunk_begin(chunk), part.chunk_bytes(chunk)};
}

std::span<const std::byte> FileRecords::chunk(std::uint64_t chunk) const {
  const auto place = find_chunk(chunk);
  return place.file.read(place.begin, place.bytes);
}

void FileRecords::announce(std::uint64_t chunk) const {
  const auto place = find_chunk(chunk);
  place.file.file.mapped.announce(place.file.begin_bytes + place.begin, place.bytes);
}

void FileRecords::add_train_record(std::uint64_t index,
                                   std::vector<std::span<const std::byte>>& runs) const {
  WIDE_CHECK(index < manifest_->space.train_count, "no such sample");
  add_record(finder_.train(index), runs);
}

void FileRecords::add_eval_record(std::uint64_t index,
                                  std::vector<std::span<const std::byte>>& runs) const {
  WIDE_CHECK(index < manifest_->space.eval_count, "no such sample");
  add_record(finder_.eval(index), runs);
}

void FileRecords::add_record(RecordPlace place,
                             std::vector<std::span<const std::byte>>& runs) const {
  const auto found = at(place);
  runs.push_back(found.sample);
  if (!found.targets.empty()) runs.push_back(found.targets);
}

}  // namespace wide::data
