#include "wide/history/recovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <utility>

#include "wide/base/failpoint.h"
#include "wide/history/past_json.h"

namespace wide::history {

namespace {

engine::FrozenReplica frozen(const store::CheckpointFacts& facts, store::CheckpointArrays arrays) {
  return {facts.step, facts.chain, std::move(arrays.weights), std::move(arrays.optimizer),
          std::move(arrays.memory)};
}

// One generation, all of it checked: facts, arrays, hash, fit.
Result<void> restore_from(store::Disk& disk, const store::CheckpointEntry& entry,
                          engine::Pool& pool, BufferPool& buffers) {
  if (!entry.facts) return tl::unexpected(entry.facts.error());
  const auto& facts = *entry.facts;
  if (facts.job_id != pool.id()) {
    return fail(Errc::kOtherJob, fmt::format("{} is of job {}, not {}", disk.path(entry.manifest),
                                             facts.job_id.short_hex(), pool.id().short_hex()));
  }
  auto arrays = store::read_checkpoint(disk, entry, buffers);
  if (!arrays) return tl::unexpected(arrays.error());
  auto past = parse_past(facts.past);
  if (!past) return tl::unexpected(past.error());
  if (!pool.restore(frozen(facts, std::move(*arrays)), std::move(*past))) {
    return fail(Errc::kCheckpointDamaged,
                fmt::format("{}: it is of another shape than the job", disk.path(entry.manifest)));
  }
  failpoint("recovery.checkpoint.read");
  return {};
}

bool is_damage(const Error& error) {
  return error.code == Errc::kCheckpointDamaged || error.code == Errc::kCannotRead ||
         error.code == Errc::kRunMissing || error.code == Errc::kTensorFileCorrupt;
}

// Tells the pool of one record after another. While it applies a large one, on a thread of its own,
// the next is read and checked: coming back takes half as long.
class Recaller final {
 public:
  Recaller(engine::Pool& pool, Recovered& recovered) : pool_(pool), recovered_(recovered) {}

  Result<void> take(const store::ReadRecord& read) {
    auto record =
        engine::decode_record(read.header.type, read.body, read.bulk, read.header.bulk_bytes);
    if (auto before = settle(); !before) return before;
    if (!record) return tl::unexpected(record.error());
    const std::uint64_t sequence = read.header.sequence;
    if (read.header.bulk_bytes < kLargeBytes) return recall(*record, sequence);
    under_way_ = std::async(std::launch::async, [this, record = std::move(*record), sequence] {
      return recall(record, sequence);
    });
    return {};
  }

  // What take() has begun is done.
  Result<void> settle() { return under_way_.valid() ? under_way_.get() : Result<void>(); }

 private:
  static constexpr std::uint64_t kLargeBytes = 1u << 20;

  Result<void> recall(const engine::LedgerRecord& record, std::uint64_t sequence) {
    const auto* commit = std::get_if<engine::CommitRecord>(&record);
    if (commit != nullptr && commit->update.empty()) {
      return fail(
          Errc::kCheckpointDamaged,
          fmt::format("the update of step {} was pruned, and no checkpoint behind it can be "
                      "read",
                      commit->step));
    }
    if (!pool_.recall(record)) {
      return fail(
          Errc::kRunDiffers,
          fmt::format("record {} of the ledger does not follow from what is before it", sequence));
    }
    if (commit != nullptr) {
      ++recovered_.recalled_steps;
      recovered_.recalled_bytes += commit->update.bytes().size();
    }
    failpoint("recovery.record.read");
    return {};
  }

  engine::Pool& pool_;
  Recovered& recovered_;
  std::future<Result<void>> under_way_;
};

void warn_of_tail(Recovered& recovered) {
  if (!recovered.end.torn) return;
  const auto& torn = *recovered.end.torn;
  recovered.warnings.push_back(
      fmt::format("{}: the last {} bytes, from offset {}, are of a record that was not written to "
                  "the end; they are cut off",
                  torn.file, torn.lost_bytes, torn.offset_bytes));
}

// A checkpoint is taken behind records that are on the disk. One whose manifest cannot be read says
// at least so much, by its name: nothing that it may stand behind is taken for a torn tail.
Result<void> reaches_checkpoints(store::Disk& disk, const Recovered& recovered, Step step,
                                 const std::vector<store::CheckpointEntry>& entries) {
  for (const auto& entry : entries) {
    const auto& doomed = recovered.end.doomed_segments;
    const bool unclear = entry.step == step && !entry.facts && recovered.end.torn;
    const bool stands_in_it = entry.facts &&
                              std::ranges::find(doomed, entry.facts->log.segment) != doomed.end() &&
                              entry.facts->log.sequence > 0;
    if (entry.step <= step && !unclear && !stands_in_it) continue;
    return fail(Errc::kLogDamaged,
                fmt::format("the log ends at step {}, in a record that is not whole, and {} says "
                            "that there was more ({})",
                            step, disk.path(entry.manifest),
                            entry.facts ? "it is whole" : describe(entry.facts.error())));
  }
  return {};
}

}  // namespace

Result<Recovered> recover(store::Disk& disk, engine::Pool& pool, BufferPool& buffers,
                          const std::function<engine::Genesis()>& make_genesis) {
  Recovered recovered;
  auto entries = store::list_checkpoints(disk);
  if (!entries) return tl::unexpected(entries.error());

  store::LogQuestion question{.job_id = pool.id(), .from = {}, .synced_to = 0};
  for (const auto& entry : *entries) {
    // A checkpoint is taken behind records that are on the disk, be its arrays whole or not.
    if (entry.facts) {
      question.synced_to = std::max(question.synced_to, entry.facts->synced_to);
    }
  }
  for (const auto& entry : *entries) {
    const auto restored = restore_from(disk, entry, pool, buffers);
    if (restored) {
      recovered.checkpoint = *entry.facts;
      question.from = entry.facts->log;
      break;
    }
    if (!is_damage(restored.error())) return tl::unexpected(restored.error());
    recovered.warnings.push_back(
        fmt::format("an older checkpoint is used: {}", describe(restored.error())));
  }
  if (!pool.stands() && !(make_genesis && pool.stand_at(make_genesis()))) {
    return fail(Errc::kCheckpointDamaged, "no checkpoint can be read");
  }
  Recaller recaller(pool, recovered);
  auto end = store::read_log(disk, question,
                             [&](const store::ReadRecord& read) { return recaller.take(read); });
  const auto settled = recaller.settle();
  if (!end) return tl::unexpected(end.error());
  if (!settled) return tl::unexpected(settled.error());
  recovered.end = std::move(*end);
  const auto reaches = reaches_checkpoints(disk, recovered, pool.replica().step(), *entries);
  if (!reaches) return tl::unexpected(reaches.error());
  if (!pool.reaches_back()) {
    return fail(Errc::kLogDamaged,
                fmt::format("the log ends at step {}, and no checkpoint before it has the weights "
                            "that the next step is computed on",
                            pool.replica().step()));
  }
  warn_of_tail(recovered);
  failpoint("recovery.done");
  return recovered;
}

}  // namespace wide::history
