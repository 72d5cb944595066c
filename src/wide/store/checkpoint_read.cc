#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <set>
#include <utility>

#include "wide/store/checkpoint.h"
#include "wide/store/checkpoint_file.h"
#include "wide/store/checkpoint_manifest.h"

namespace wide::store {
namespace {

constexpr std::uint64_t kLargeBytes = 4u << 20;

// All names in the folder; none where there is no folder.
Result<std::vector<std::string>> names_there(Disk& disk) {
  auto names = disk.list(kCheckpointFolder);
  if (!names && names.error().code == Errc::kRunMissing) return std::vector<std::string>();
  return names;
}

// The names that manifests give. Nothing where one of them cannot be read: then nobody knows.
std::optional<std::set<std::string>> named_files(Disk& disk, std::span<const std::string> names) {
  std::set<std::string> named;
  for (const auto& name : names) {
    const auto step = step_of_manifest(name);
    if (!step) continue;
    const auto manifest = read_manifest(disk, *step);
    if (!manifest) return std::nullopt;
    named.insert(manifest->weights.name());
    if (manifest->optimizer) named.insert(manifest->optimizer->name());
    if (manifest->memory) named.insert(manifest->memory->name());
  }
  return named;
}

}  // namespace

Result<std::vector<CheckpointEntry>> list_checkpoints(Disk& disk) {
  const auto names = names_there(disk);
  if (!names) return tl::unexpected(names.error());
  std::vector<CheckpointEntry> entries;
  for (const auto& name : *names) {
    const auto step = step_of_manifest(name);
    if (!step) continue;
    auto facts =
        read_manifest(disk, *step).map([](Manifest manifest) { return std::move(manifest.facts); });
    entries.push_back({manifest_name(*step), *step, std::move(facts)});
  }
  std::ranges::sort(entries, std::greater(), &CheckpointEntry::step);
  return entries;
}

Result<CheckpointArrays> read_checkpoint(Disk& disk, const CheckpointEntry& entry,
                                         BufferPool& buffers) {
  const auto manifest = read_manifest(disk, entry.step);
  if (!manifest) return tl::unexpected(manifest.error());
  CheckpointArrays arrays;
  const auto read = [&](const std::optional<FileFacts>& file, Floats& into) -> Result<void> {
    if (!file) return {};
    auto values = read_values(disk, *file, buffers);
    if (!values) return tl::unexpected(std::move(values.error()));
    into = std::move(*values);
    return {};
  };
  const auto weights = [&] { return read(manifest->weights, arrays.weights); };
  const auto others = [&] {
    return read(manifest->optimizer, arrays.optimizer).and_then([&] {
      return read(manifest->memory, arrays.memory);
    });
  };
  // Hashing is most of it: large files are read by two threads.
  Result<void> done;
  if (manifest->weights.size_bytes >= kLargeBytes) {
    auto aside = std::async(std::launch::async, weights);
    const auto here = others();
    done = aside.get().and_then([&] { return here; });
  } else {
    done = weights().and_then(others);
  }
  if (!done) return tl::unexpected(done.error());
  return arrays;
}

Digest state_hash_of(const CheckpointFacts& facts, const CheckpointArrays& arrays) {
  return Sha256()
      .update(std::as_bytes(std::span(&facts.step, 1)))
      .update(std::as_bytes(std::span(&facts.chain, 1)))
      .update(arrays.weights.bytes())
      .update(arrays.optimizer.bytes())
      .finish();
}

Result<void> remove_rubbish(Disk& disk) {
  const auto names = names_there(disk);
  if (!names) return tl::unexpected(names.error());
  const auto named = named_files(disk, *names);
  // A manifest whose removal was not synced may be back after a power cut; its files must be, too.
  if (!names->empty()) {
    if (auto done = disk.sync_folder(kCheckpointFolder); !done) return done;
  }
  for (const auto& name : *names) {
    const auto full = fmt::format("{}/{}", kCheckpointFolder, name);
    const bool unnamed = named && is_checkpoint_file(name) && !named->contains(full);
    if (!unnamed && !is_aside(name)) continue;
    if (auto done = disk.remove(full); !done) return done;
  }
  return {};
}

}  // namespace wide::store
