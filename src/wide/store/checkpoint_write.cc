#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <utility>

#include "wide/base/check.h"
#include "wide/base/failpoint.h"
#include "wide/store/checkpoint.h"
#include "wide/store/checkpoint_file.h"
#include "wide/store/checkpoint_manifest.h"

namespace wide::store {
namespace {

constexpr std::string_view kHalf = "checkpoint.file.half";

// Appends to a file aside and syncs it. Where that fails its room is given back.
Result<void> append_aside(Disk& disk, std::string_view aside, DiskFile& file, Pieces pieces) {
  auto done = file.append(pieces).and_then([&] { return file.sync(); });
  if (!done && done.error().code != Errc::kSyncFailed) (void)disk.remove(aside);
  return done;
}

// Writes one file: hashed, looked for, written aside, synced, renamed.
class FileWriter final {
 public:
  explicit FileWriter(CheckpointFile file) : file_(std::move(file)) {}

  // True: hashed. The values go into `state`, too.
  bool hash_some(Sha256& state);
  // True: the file stands under its name. The folder is not synced.
  Result<bool> write_some(Disk& disk);

  const FileFacts& facts() const { return facts_; }

 private:
  enum class Stage { kLook, kCompare, kWrite, kRename };
  Result<bool> look(Disk& disk);
  Result<bool> compare(Disk& disk);
  Result<bool> write(Disk& disk);
  Result<bool> rename(Disk& disk);
  std::string aside() const { return aside_name(facts_.name()); }

  CheckpointFile file_;
  FileFacts facts_;
  Stage stage_ = Stage::kLook;
  std::uint64_t offset_bytes_ = 0;
  Sha256 hash_;
  std::optional<FileCheck> found_;
  DiskFilePtr out_;
};

bool FileWriter::hash_some(Sha256& state) {
  const auto piece = file_.piece(offset_bytes_, kPieceBytes);
  hash_.update(piece.prefix).update(piece.values);
  state.update(piece.values);
  offset_bytes_ += piece.size();
  if (offset_bytes_ < file_.size_bytes()) return false;
  facts_ = {hash_.finish(), file_.size_bytes()};
  offset_bytes_ = 0;
  return true;
}

Result<bool> FileWriter::write_some(Disk& disk) {
  switch (stage_) {
    case Stage::kLook:
      return look(disk);
    case Stage::kCompare:
      return compare(disk);
    case Stage::kWrite:
      return write(disk);
    case Stage::kRename:
      return rename(disk);
  }
  return true;
}

// It may be there from an earlier checkpoint, or from one that was cut off.
Result<bool> FileWriter::look(Disk& disk) {
  const auto there = disk.open(facts_.name(), Open::kRead);
  const bool fits = there && (*there)->size_bytes() == facts_.size_bytes;
  if (fits) found_.emplace(facts_);
  stage_ = fits ? Stage::kCompare : Stage::kWrite;
  return false;
}

Result<bool> FileWriter::compare(Disk& disk) {
  const auto same = found_->step(disk);
  if (!same) stage_ = Stage::kWrite;
  if (!same || !*same) return false;
  // Whoever wrote it may not have come to syncing it.
  auto file = disk.open(facts_.name(), Open::kAppend);
  if (!file) return tl::unexpected(std::move(file.error()));
  if (auto done = (*file)->sync(); !done) return tl::unexpected(std::move(done.error()));
  return true;
}

Result<bool> FileWriter::write(Disk& disk) {
  if (!out_) {
    auto file = disk.open(aside(), Open::kAnew);
    if (!file) return tl::unexpected(std::move(file.error()));
    out_ = std::move(*file);
  }
  const auto bytes_max = failpoint_armed(kHalf) ? (file_.size_bytes() + 1) / 2 : kPieceBytes;
  const auto piece = file_.piece(offset_bytes_, bytes_max);
  const std::array pieces = {piece.prefix, piece.values};
  if (auto done = append_aside(disk, aside(), *out_, pieces); !done) {
    return tl::unexpected(std::move(done.error()));
  }
  offset_bytes_ += piece.size();
  if (offset_bytes_ < file_.size_bytes()) {
    failpoint(kHalf);
    return false;
  }
  failpoint("checkpoint.file.synced");
  stage_ = Stage::kRename;
  return false;
}

Result<bool> FileWriter::rename(Disk& disk) {
  out_.reset();
  if (auto done = disk.rename(aside(), facts_.name()); !done) {
    return tl::unexpected(std::move(done.error()));
  }
  failpoint("checkpoint.file.renamed");
  return true;
}

}  // namespace

class CheckpointWriter::Stages final {
 public:
  Stages(Disk& disk, NewCheckpoint checkpoint);

  Result<bool> step();
  const CheckpointFacts& facts() const { return facts_; }

 private:
  // Each does one piece of its work; true: the next stage.
  using Stage = Result<bool> (Stages::*)();
  Result<bool> begin();
  Result<bool> hash();
  Result<bool> write_files();
  Result<bool> sync_folder();
  Result<bool> write_manifest();
  Result<bool> rename_manifest();
  Result<bool> sync_manifest();
  Result<bool> check_files();
  Result<bool> check_manifest();
  Result<bool> drop_generation();
  Result<bool> drop_files();
  static constexpr std::array<Stage, 11> kStages = {
      &Stages::begin,           &Stages::hash,           &Stages::write_files,
      &Stages::sync_folder,     &Stages::write_manifest, &Stages::rename_manifest,
      &Stages::sync_manifest,   &Stages::check_files,    &Stages::check_manifest,
      &Stages::drop_generation, &Stages::drop_files};

  Result<void> make_files();
  Result<bool> finish_hash();
  tl::unexpected<Error> give_up(std::string why);

  Disk& disk_;
  CheckpointFacts facts_;
  CheckpointArrays arrays_;
  std::vector<TensorPlace> places_;
  std::size_t stage_ = 0;
  std::size_t file_ = 0;          // within the stages that go through all files
  std::deque<FileWriter> files_;  // weights; where there are such, optimiser state, memory
  std::deque<FileCheck> checks_;
  Sha256 state_;
  std::string manifest_;
};

CheckpointWriter::Stages::Stages(Disk& disk, NewCheckpoint checkpoint)
    : disk_(disk),
      facts_(std::move(checkpoint.facts)),
      arrays_(std::move(checkpoint.arrays)),
      places_(std::move(checkpoint.places)) {}

Result<bool> CheckpointWriter::Stages::step() {
  WIDE_CHECK(stage_ < kStages.size(), "no step after the last");
  const auto done = (this->*kStages[stage_])();
  if (!done) stage_ = kStages.size();
  if (!done || !*done) return done;
  return ++stage_ == kStages.size();
}

Result<bool> CheckpointWriter::Stages::begin() {
  auto done = disk_.make_folder(kCheckpointFolder)
                  .and_then([this] { return disk_.sync_folder(""); })
                  .and_then([this] { return make_files(); });
  if (!done) return tl::unexpected(std::move(done.error()));
  state_.update(std::as_bytes(std::span(&facts_.step, 1)));
  state_.update(std::as_bytes(std::span(&facts_.chain, 1)));
  return true;
}

Result<void> CheckpointWriter::Stages::make_files() {
  auto weights = weights_file(arrays_.weights, places_, facts_.step);
  if (!weights) return tl::unexpected(std::move(weights.error()));
  files_.emplace_back(std::move(*weights));
  for (const Floats* state : {&arrays_.optimizer, &arrays_.memory}) {
    if (state->empty()) continue;
    auto file = state_file(*state, facts_.step);
    if (!file) return tl::unexpected(std::move(file.error()));
    files_.emplace_back(std::move(*file));
  }
  return {};
}

Result<bool> CheckpointWriter::Stages::hash() {
  // Nodes have no memory: the hash of a replica's state is theirs, too.
  const bool is_memory = !arrays_.memory.empty() && file_ + 1 == files_.size();
  Sha256 apart;
  if (files_[file_].hash_some(is_memory ? apart : state_)) ++file_;
  return file_ < files_.size() ? false : finish_hash();
}

Result<bool> CheckpointWriter::Stages::finish_hash() {
  file_ = 0;
  const auto hash = state_.finish();
  if (!facts_.state_hash.is_zero() && facts_.state_hash != hash) {
    return fail(Errc::kCheckpointDamaged,
                fmt::format("{}: the state to be written is not the one that was promised",
                            disk_.path(manifest_name(facts_.step))));
  }
  facts_.state_hash = hash;
  return true;
}

Result<bool> CheckpointWriter::Stages::write_files() {
  const auto stands = files_[file_].write_some(disk_);
  if (!stands || !*stands) return stands;
  checks_.emplace_back(files_[file_].facts());
  return ++file_ == files_.size();
}

Result<bool> CheckpointWriter::Stages::sync_folder() {
  return disk_.sync_folder(kCheckpointFolder).map([] { return true; });
}

Result<bool> CheckpointWriter::Stages::write_manifest() {
  Manifest manifest{facts_, files_.front().facts(), std::nullopt, std::nullopt};
  if (!arrays_.optimizer.empty()) manifest.optimizer = files_[1].facts();
  if (!arrays_.memory.empty()) manifest.memory = files_.back().facts();
  auto text = format_manifest(manifest);
  if (!text) return tl::unexpected(std::move(text.error()));
  manifest_ = std::move(*text);

  failpoint("checkpoint.manifest.before");
  const std::array pieces = {std::as_bytes(std::span(manifest_))};
  const auto aside = aside_name(manifest_name(facts_.step));
  auto file = disk_.open(aside, Open::kAnew);
  if (!file) return tl::unexpected(std::move(file.error()));
  return append_aside(disk_, aside, **file, pieces).map([] { return true; });
}

Result<bool> CheckpointWriter::Stages::rename_manifest() {
  const auto name = manifest_name(facts_.step);
  if (auto done = disk_.rename(aside_name(name), name); !done) {
    return tl::unexpected(std::move(done.error()));
  }
  failpoint("checkpoint.manifest.renamed");
  return true;
}

Result<bool> CheckpointWriter::Stages::sync_manifest() {
  if (auto done = disk_.sync_folder(kCheckpointFolder); !done) {
    return tl::unexpected(std::move(done.error()));
  }
  failpoint("checkpoint.folder.synced");
  file_ = 0;
  return true;
}

Result<bool> CheckpointWriter::Stages::check_files() {
  const auto checked = checks_[file_].step(disk_);
  if (!checked) return give_up(checked.error().detail);
  if (!*checked) return false;
  return ++file_ == files_.size();
}

Result<bool> CheckpointWriter::Stages::check_manifest() {
  const auto name = manifest_name(facts_.step);
  const auto text = read_whole(disk_, name);
  if (!text) return give_up(text.error().detail);
  if (std::ranges::equal(*text, std::as_bytes(std::span(manifest_)))) return true;
  return give_up(fmt::format("{}: it reads otherwise than it was written", disk_.path(name)));
}

// What did not read back must not pass for a generation.
tl::unexpected<Error> CheckpointWriter::Stages::give_up(std::string why) {
  (void)disk_.remove(manifest_name(facts_.step));
  return fail(Errc::kCheckpointDamaged, std::move(why));
}

// The oldest that has three whole ones before it. A manifest that does not read counts for nothing.
Result<bool> CheckpointWriter::Stages::drop_generation() {
  const auto entries = list_checkpoints(disk_);
  if (!entries) return tl::unexpected(entries.error());
  std::size_t whole_count = 0;
  const CheckpointEntry* oldest = nullptr;
  for (const auto& entry : *entries) {
    if (whole_count >= kGenerations) oldest = &entry;
    if (entry.facts) ++whole_count;
  }
  if (oldest == nullptr) return true;
  auto done = disk_.remove(oldest->manifest).and_then([this] {
    return disk_.sync_folder(kCheckpointFolder);
  });
  if (!done) return tl::unexpected(std::move(done.error()));
  failpoint("checkpoint.generation.removed");
  return false;
}

Result<bool> CheckpointWriter::Stages::drop_files() {
  return remove_rubbish(disk_).map([] { return true; });
}

CheckpointWriter::CheckpointWriter(Disk& disk, NewCheckpoint checkpoint)
    : stages_(std::make_unique<Stages>(disk, std::move(checkpoint))) {}
CheckpointWriter::~CheckpointWriter() = default;

Result<bool> CheckpointWriter::step() { return stages_->step(); }
const CheckpointFacts& CheckpointWriter::facts() const { return stages_->facts(); }

}  // namespace wide::store
