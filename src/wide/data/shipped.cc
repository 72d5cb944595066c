#include "wide/data/shipped.h"

#include <fmt/format.h>

#include <unordered_map>
#include <utility>
#include <vector>

#include "wide/base/check.h"
#include "wide/data/table.h"

namespace wide::data {
namespace {

class ShelfRecords final : public RecordSource {
 public:
  explicit ShelfRecords(std::shared_ptr<ChunkShelf> shelf) : shelf_(std::move(shelf)) {}

  RecordBytes at(RecordPlace place) const override {
    return {record(place.part, place.record), record(place.part + 1u, place.record)};
  }

 private:
  std::span<const std::byte> record(std::size_t place, std::uint64_t record) const {
    const auto& part = shelf_->manifest().parts[place];
    if (part.count == 0) return {};
    const auto chunk = record / part.records_per_chunk;
    const auto in_chunk = record - chunk * part.records_per_chunk;
    return {shelf_->begin_of(part.first_chunk + chunk) + in_chunk * part.stride_bytes(),
            part.record_bytes()};
  }

  std::shared_ptr<ChunkShelf> shelf_;
};

// The records that came with leases and are still held, by sample. One sample may have come more
// than once: a lease that was copied to an idle slot, or one that ends as the next begins.
class Desk final {
 public:
  void add(std::uint64_t key, const std::byte* record) {
    const std::lock_guard lock(mutex_);
    records_.emplace(key, record);
  }
  void remove(std::uint64_t key, const std::byte* record) {
    const std::lock_guard lock(mutex_);
    auto [found, end] = records_.equal_range(key);
    while (found != end && found->second != record) ++found;
    WIDE_CHECK(found != end, "a record was put down twice");
    records_.erase(found);
  }
  const std::byte* find(std::uint64_t key) const {
    const std::lock_guard lock(mutex_);
    const auto found = records_.find(key);
    WIDE_CHECK(found != records_.end(), "loaded a sample that did not come with a lease");
    return found->second;
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_multimap<std::uint64_t, const std::byte*> records_;
};

std::uint64_t key_of(bool held_out, std::uint64_t index) {
  return index * 2 + (held_out ? 1 : 0);  // counts are far below 2^63
}

// What a lease brought, on the desk for as long as this lives.
class Armful final {
 public:
  Armful(std::shared_ptr<Desk> desk, std::shared_ptr<const void> owner)
      : desk_(std::move(desk)), owner_(std::move(owner)) {}
  ~Armful() {
    for (const auto& [key, record] : records_) desk_->remove(key, record);
  }
  Armful(const Armful&) = delete;
  Armful& operator=(const Armful&) = delete;

  void add(std::uint64_t key, const std::byte* record) {
    records_.emplace_back(key, record);
    desk_->add(key, record);
  }

 private:
  std::shared_ptr<Desk> desk_;
  std::shared_ptr<const void> owner_;
  std::vector<std::pair<std::uint64_t, const std::byte*>> records_;
};

class Carried final : public CarriedSamples {
 public:
  Carried(std::shared_ptr<const Manifest> manifest, Normalising normalising)
      : manifest_(std::move(manifest)), decoder_(*manifest_, normalising) {}

  const SampleSpace& space() const override { return manifest_->space; }
  void load_train(std::uint64_t index, const SampleRoom& room) const override {
    load(key_of(false, index), room);
  }
  void load_eval(std::uint64_t index, const SampleRoom& room) const override {
    load(key_of(true, index), room);
  }
  Result<Hold> hold(bool held_out, std::span<const std::uint64_t> indices,
                    std::shared_ptr<const void> owner, std::span<const std::byte> bytes) override;

 private:
  void load(std::uint64_t key, const SampleRoom& room) const {
    const auto sample_bytes = manifest_->parts[kTrainSamples].record_bytes();
    const auto record = std::span(desk_->find(key), manifest_->space.carried_bytes);
    decoder_.decode(record.first(sample_bytes), record.subspan(sample_bytes), room);
  }

  std::shared_ptr<const Manifest> manifest_;
  RecordDecoder decoder_;
  std::shared_ptr<Desk> desk_ = std::make_shared<Desk>();
};

Result<CarriedSamples::Hold> Carried::hold(bool held_out, std::span<const std::uint64_t> indices,
                                           std::shared_ptr<const void> owner,
                                           std::span<const std::byte> bytes) {
  const auto record_bytes = manifest_->space.carried_bytes;
  if (bytes.size() / record_bytes != indices.size() || bytes.size() % record_bytes != 0) {
    return fail(Errc::kBadFrame, fmt::format("{} bytes for {} samples of {} bytes", bytes.size(),
                                             indices.size(), record_bytes));
  }
  const auto count = held_out ? manifest_->space.eval_count : manifest_->space.train_count;
  for (const auto index : indices) {
    if (index < count) continue;
    return fail(Errc::kBadFrame, fmt::format("sample {} of {} came with a lease", index, count));
  }
  auto armful = std::make_shared<Armful>(desk_, std::move(owner));
  for (std::size_t i = 0; i < indices.size(); ++i) {
    armful->add(key_of(held_out, indices[i]), bytes.data() + i * record_bytes);
  }
  return armful;
}

}  // namespace

Result<DatasetPtr> make_shipped(const Recipe& recipe, std::shared_ptr<ChunkShelf> shelf) {
  auto manifest = shelf->shared_manifest();
  if (auto good = check_goes_with(recipe, *manifest); !good) {
    return tl::unexpected(std::move(good.error()));
  }
  return std::make_shared<const Table>(std::move(manifest), normalising_of(recipe),
                                       std::make_unique<const ShelfRecords>(std::move(shelf)));
}

Result<std::shared_ptr<CarriedSamples>> make_carried(const Recipe& recipe,
                                                     std::shared_ptr<const Manifest> manifest) {
  if (auto good = check_goes_with(recipe, *manifest); !good) {
    return tl::unexpected(std::move(good.error()));
  }
  return std::make_shared<Carried>(std::move(manifest), normalising_of(recipe));
}

}  // namespace wide::data
