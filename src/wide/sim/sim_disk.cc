#include "wide/sim/sim_disk.h"

#include <algorithm>
#include <array>
#include <utility>

#include "wide/base/digest.h"

namespace wide::sim {

namespace {

using namespace std::chrono_literals;

constexpr Duration kAppendSpan = 8us;
constexpr Duration kReadSpan = 15us;
constexpr Duration kNameSpan = 30us;
constexpr Duration kSyncSpan = 300us;

std::string folder_of(std::string_view name) {
  const auto slash = name.rfind('/');
  return std::string(slash == std::string_view::npos ? "" : name.substr(0, slash));
}

auto missing(const std::string& path) {
  return fail(Errc::kRunMissing, path + ": there is no such file");
}

}  // namespace

class SimDisk::File final : public store::DiskFile {
 public:
  File(SimDisk& disk, InodePtr inode)
      : disk_(disk), inode_(std::move(inode)), size_bytes_(inode_->present.size()) {}

  Result<void> append(store::Pieces pieces) override {
    auto done = disk_.write(*inode_, size_bytes_, pieces);
    if (!done) return done;
    for (const auto piece : pieces) size_bytes_ += piece.size();
    return {};
  }
  Result<void> make_room(std::uint64_t bytes) override {
    const std::uint64_t from_bytes = inode_->present.size();
    if (size_bytes_ + bytes <= from_bytes) return {};
    const std::vector<std::byte> zeros(size_bytes_ + bytes - from_bytes);
    const std::array pieces = {std::span<const std::byte>(zeros)};
    auto done = disk_.write(*inode_, from_bytes, pieces);
    if (done) return done;
    if (auto cleared = cut(size_bytes_); !cleared) return cleared;
    return done;
  }
  Result<void> sync() override { return disk_.sync(*inode_); }
  Result<void> cut(std::uint64_t size_bytes) override {
    auto done = disk_.cut(*inode_, size_bytes);
    if (done) size_bytes_ = size_bytes;
    return done;
  }
  Result<void> read(std::uint64_t offset_bytes, std::span<std::byte> into) const override {
    return disk_.read(*inode_, offset_bytes, into);
  }
  std::uint64_t size_bytes() const override { return size_bytes_; }

 private:
  SimDisk& disk_;
  InodePtr inode_;
  std::uint64_t size_bytes_;
};

bool SimDisk::begin(Duration span) {
  ++operation_count_;
  span_ += Duration(
      static_cast<std::int64_t>(double(span.count()) * faults_.slowness * (0.5 + dice_.uniform())));
  return crash_in_ > 0 && --crash_in_ == 0;
}

void SimDisk::crash() {
  dead_ = true;
  throw SimCrash{};
}

bool SimDisk::strikes(double chance, Fault fault) {
  if (!dice_.chance(chance)) return false;
  counts_.add(fault);
  return true;
}

Duration SimDisk::take_span() { return std::exchange(span_, Duration{}); }

// --- Files ---------------------------------------------------------------------------------------

Result<store::DiskFilePtr> SimDisk::open(std::string_view name, store::Open how) {
  if (dead_) return fail(Errc::kCannotWrite, path(name) + ": the machine is gone");
  if (begin(kNameSpan)) crash();
  const bool reads = how == store::Open::kRead;
  if (strikes(faults_.name_chance, Fault::kNameError)) {
    return fail(reads ? Errc::kCannotRead : Errc::kCannotWrite, path(name) + ": I/O error");
  }
  const auto found = names_.find(name);
  InodePtr inode = found == names_.end() ? nullptr : found->second;
  if (!inode) {
    if (reads) return missing(path(name));
    if (found != names_.end()) return fail(Errc::kCannotWrite, path(name) + ": is a folder");
    const std::string folder = folder_of(name);
    if (!folder.empty() && !names_.contains(folder)) return missing(path(folder));
    inode = std::make_shared<Inode>();
    const Pending made{folder, "", std::string(name), inode};
    apply(names_, made);
    pending_.push_back(made);
  } else if (how == store::Open::kAnew) {
    const auto emptied = cut(*inode, 0);
    if (!emptied) return fail(emptied.error().code, path(name) + ": I/O error");
  }
  return std::make_shared<File>(*this, std::move(inode));
}

Result<void> SimDisk::write(Inode& inode, std::uint64_t at_bytes, store::Pieces pieces) {
  if (dead_) return fail(Errc::kCannotWrite, "the machine is gone");
  const bool crashes = begin(kAppendSpan);
  std::uint64_t total_bytes = 0;
  for (const auto piece : pieces) total_bytes += piece.size();
  std::uint64_t left_bytes = total_bytes;
  std::optional<Error> error;
  if (crashes) {
    left_bytes = dice_.below(total_bytes + 1);
  } else if (strikes(faults_.append_chance, Fault::kAppendError)) {
    left_bytes = dice_.below(total_bytes + 1);
    error = Error{Errc::kCannotWrite, "I/O error"};
  } else if (at_bytes + total_bytes > inode.present.size() + room_bytes_) {
    left_bytes = dice_.below(inode.present.size() + room_bytes_ - at_bytes + 1);
    error = Error{Errc::kDiskFull, "no space left"};
    counts_.add(Fault::kDiskFull);
  }
  const std::uint64_t end_bytes = at_bytes + left_bytes;
  if (end_bytes > inode.present.size()) {
    room_bytes_ -= std::min(room_bytes_, end_bytes - inode.present.size());
    inode.present.resize(end_bytes);
  }
  inode.firm_bytes = std::min<std::size_t>(inode.firm_bytes, at_bytes);
  drop_rot(inode, at_bytes, end_bytes);
  auto to = inode.present.begin() + static_cast<std::ptrdiff_t>(at_bytes);
  for (const auto piece : pieces) {
    const auto some = std::min<std::uint64_t>(piece.size(), left_bytes);
    to = std::copy_n(piece.begin(), some, to);
    left_bytes -= some;
  }
  if (crashes) crash();
  if (error) return fail(error->code, error->detail);
  return {};
}

// After a failed sync the kernel calls the pages clean and may drop them: they are lost, and
// another sync would not say so.
Result<void> SimDisk::sync(Inode& inode) {
  if (dead_) return fail(Errc::kSyncFailed, "the machine is gone");
  const bool crashes = begin(kSyncSpan);
  if (crashes && dice_.chance(0.5)) crash();
  if (strikes(faults_.sync_chance, Fault::kSyncError)) {
    inode.present = inode.platter;
    inode.firm_bytes = inode.platter.size();
    return fail(Errc::kSyncFailed, "I/O error");
  }
  inode.platter.resize(inode.present.size());
  std::copy(inode.present.begin() + static_cast<std::ptrdiff_t>(inode.firm_bytes),
            inode.present.end(),
            inode.platter.begin() + static_cast<std::ptrdiff_t>(inode.firm_bytes));
  inode.firm_bytes = inode.present.size();
  if (crashes) crash();
  return {};
}

Result<void> SimDisk::cut(Inode& inode, std::uint64_t size_bytes) {
  if (dead_) return fail(Errc::kCannotWrite, "the machine is gone");
  const bool crashes = begin(kNameSpan);
  if (crashes && dice_.chance(0.5)) crash();
  if (strikes(faults_.append_chance, Fault::kAppendError)) {
    return fail(Errc::kCannotWrite, "I/O error");
  }
  const auto size = std::min<std::size_t>(size_bytes, inode.present.size());
  room_bytes_ += inode.present.size() - size;
  inode.present.resize(size);
  inode.firm_bytes = std::min(inode.firm_bytes, size);
  drop_rot(inode, size, SIZE_MAX);
  if (crashes) crash();
  return {};
}

Result<void> SimDisk::read(const Inode& inode, std::uint64_t offset_bytes,
                           std::span<std::byte> into) {
  if (dead_) return fail(Errc::kCannotRead, "the machine is gone");
  if (begin(kReadSpan)) crash();
  if (strikes(faults_.read_chance, Fault::kReadError)) {
    return fail(Errc::kCannotRead, "I/O error");
  }
  if (offset_bytes > inode.present.size() || into.size() > inode.present.size() - offset_bytes) {
    return fail(Errc::kCannotRead, "the file is shorter");
  }
  std::copy_n(inode.present.begin() + static_cast<std::ptrdiff_t>(offset_bytes), into.size(),
              into.begin());
  return {};
}

// --- Names ---------------------------------------------------------------------------------------

void SimDisk::apply(Names& names, const Pending& change) {
  if (!change.from.empty()) names.erase(change.from);
  if (!change.to.empty()) names[change.to] = change.inode;
}

Result<void> SimDisk::change(Pending change) {
  if (dead_) return fail(Errc::kCannotWrite, "the machine is gone");
  const bool crashes = begin(kNameSpan);
  if (crashes && dice_.chance(0.5)) crash();
  if (strikes(faults_.name_chance, Fault::kNameError)) {
    return fail(Errc::kCannotWrite, path(change.from) + ": I/O error");
  }
  if (change.to.empty() && change.inode) room_bytes_ += change.inode->present.size();
  apply(names_, change);
  pending_.push_back(std::move(change));
  if (crashes) crash();
  return {};
}

Result<void> SimDisk::rename(std::string_view from, std::string_view to) {
  const auto found = names_.find(from);
  if (found == names_.end()) return missing(path(from));
  return change({folder_of(to), std::string(from), std::string(to), found->second});
}

Result<void> SimDisk::remove(std::string_view name) {
  const auto found = names_.find(name);
  if (found == names_.end()) return missing(path(name));
  return change({folder_of(name), std::string(name), "", found->second});
}

Result<void> SimDisk::make_folder(std::string_view name) {
  if (names_.contains(name)) return {};
  return change({folder_of(name), "", std::string(name), nullptr});
}

Result<void> SimDisk::sync_folder(std::string_view name) {
  if (dead_) return fail(Errc::kSyncFailed, "the machine is gone");
  const bool crashes = begin(kSyncSpan);
  if (crashes && dice_.chance(0.5)) crash();
  if (!name.empty() && !names_.contains(name)) return missing(path(name));
  if (strikes(faults_.sync_chance, Fault::kSyncError)) {
    return fail(Errc::kSyncFailed, path(name) + ": I/O error");
  }
  std::erase_if(pending_, [&](const Pending& change) {
    if (change.folder != name) return false;
    apply(platter_names_, change);
    return true;
  });
  if (crashes) crash();
  return {};
}

Result<std::vector<std::string>> SimDisk::list(std::string_view folder) {
  if (dead_) return fail(Errc::kCannotRead, "the machine is gone");
  if (begin(kNameSpan)) crash();
  if (!folder.empty() && !names_.contains(folder)) return missing(path(folder));
  std::vector<std::string> found;
  for (const auto& [name, inode] : names_) {
    if (inode && folder_of(name) == folder) {
      found.push_back(name.substr(folder.empty() ? 0 : folder.size() + 1));
    }
  }
  return found;
}

// --- The end of a process, and of a machine ------------------------------------------------------

void SimDisk::kill() {
  dead_ = false;
  crash_in_ = 0;
}

void SimDisk::cut_power() {
  kill();
  forget_names();
  names_ = platter_names_;
  for (auto& [name, inode] : names_) {
    if (inode) forget(*inode);
  }
}

void SimDisk::forget_names() {
  for (const Pending& change : pending_) {
    if (dice_.chance(0.5)) {
      apply(platter_names_, change);
    } else {
      counts_.add(Fault::kLostNames);
    }
  }
  pending_.clear();
  std::erase_if(platter_names_, [this](const auto& entry) {  // whose folder was never made
    const std::string folder = folder_of(entry.first);
    return !folder.empty() && !platter_names_.contains(folder);
  });
}

void SimDisk::forget(Inode& inode) {
  if (inode.firm_bytes == inode.present.size() && inode.present.size() == inode.platter.size()) {
    return;
  }
  const std::size_t luck = dice_.below(4);
  if (luck == 0) {  // all of it had been written back in time
    inode.platter = inode.present;
  } else if (luck == 1) {
    counts_.add(Fault::kLostWrites);
  } else {
    counts_.add(Fault::kTornWrites);
    const std::size_t low = std::min(inode.platter.size(), inode.present.size());
    const std::size_t high = std::max(inode.platter.size(), inode.present.size());
    const std::size_t size = dice_.pick<std::size_t>({low, high, dice_.within(low, high)});
    inode.platter.resize(size);
    for (std::size_t at = inode.firm_bytes / kSectorBytes * kSectorBytes; at < size;
         at += kSectorBytes) {
      const std::size_t end = std::min({at + kSectorBytes, size, inode.present.size()});
      if (end <= at || dice_.chance(0.5)) continue;
      std::copy(inode.present.begin() + static_cast<std::ptrdiff_t>(at),
                inode.present.begin() + static_cast<std::ptrdiff_t>(end),
                inode.platter.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
  inode.present = inode.platter;
  inode.firm_bytes = inode.platter.size();
  drop_rot(inode, inode.platter.size(), SIZE_MAX);
}

// --- Rot -----------------------------------------------------------------------------------------

bool SimDisk::rot() {
  std::vector<Names::const_iterator> files;
  for (auto at = names_.begin(); at != names_.end(); ++at) {
    if (at->second && at->second->firm_bytes > 0) files.push_back(at);
  }
  if (files.empty()) return false;
  const InodePtr& inode = files[dice_.below(files.size())]->second;
  const std::size_t offset_bytes = dice_.below(inode->firm_bytes);
  const auto bit = static_cast<std::byte>(1u << dice_.below(8));
  inode->platter[offset_bytes] ^= bit;
  inode->present[offset_bytes] ^= bit;
  rots_.push_back({inode, offset_bytes, bit, false});
  counts_.add(Fault::kBitRot);
  return true;
}

bool SimDisk::restore() {
  const auto restored = std::erase_if(rots_, [](const Rot& rot) {
    if (rot.for_good) return false;
    rot.inode->present[rot.offset_bytes] ^= rot.bit;
    if (rot.offset_bytes < rot.inode->platter.size()) {
      rot.inode->platter[rot.offset_bytes] ^= rot.bit;
    }
    return true;
  });
  return restored > 0;
}

void SimDisk::give_up(std::string_view folder) {
  for (Rot& rot : rots_) rot.for_good |= lies_in(*rot.inode, folder);
}

bool SimDisk::lies_in(const Inode& inode, std::string_view folder) const {
  return std::ranges::any_of(names_, [&](const auto& entry) {
    return entry.second.get() == &inode && folder_of(entry.first) == folder;
  });
}

void SimDisk::drop_rot(const Inode& inode, std::size_t from_bytes, std::size_t to_bytes) {
  std::erase_if(rots_, [&](const Rot& rot) {
    return rot.inode.get() == &inode && rot.offset_bytes >= from_bytes &&
           rot.offset_bytes < to_bytes;
  });
}

// --- Questions -----------------------------------------------------------------------------------

bool SimDisk::survives(std::string_view name) const {
  const auto found = names_.find(name);
  const auto kept = platter_names_.find(name);
  if (found == names_.end() || kept == platter_names_.end() || found->second != kept->second) {
    return false;
  }
  const std::string folder = folder_of(name);
  if (!folder.empty() && !platter_names_.contains(folder)) return false;
  const Inode& inode = *found->second;
  return inode.firm_bytes == inode.present.size() && inode.present.size() == inode.platter.size();
}

// A file that was removed or replaced may be back after a power cut, with its rot.
std::size_t SimDisk::rotten(std::string_view folder) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(rots_, [&](const Rot& rot) { return lies_in(*rot.inode, folder); }));
}

std::uint64_t SimDisk::hash() const {
  std::uint64_t hash = 0;
  for (const auto& [name, inode] : names_) {
    hash = xxh3(std::as_bytes(std::span(name)), hash);
    if (inode) hash = xxh3(inode->present, hash);
  }
  return hash;
}

}  // namespace wide::sim
