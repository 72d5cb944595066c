#pragma once
// For tests and fuzz targets: a disk in memory that keeps everything and never fails. One thread.

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "wide/store/disk.h"

namespace wide::store {

class MemoryDisk final : public Disk {
 public:
  using Contents = std::vector<std::byte>;

  // What lies under a name, to look at and to damage; made where it is missing.
  Contents& file(std::string_view name) {
    auto& slot = files_[std::string(name)];
    if (!slot) slot = std::make_shared<Contents>();
    return *slot;
  }
  bool holds(std::string_view name) const { return files_.contains(std::string(name)); }

  MemoryDisk() = default;
  MemoryDisk(const MemoryDisk& other) : folders_(other.folders_) {
    for (const auto& [name, slot] : other.files_) files_[name] = std::make_shared<Contents>(*slot);
  }
  MemoryDisk& operator=(const MemoryDisk&) = delete;

  Result<DiskFilePtr> open(std::string_view name, Open how) override {
    if (how == Open::kRead && !holds(name)) return missing(name);
    if (how == Open::kAnew) files_.erase(std::string(name));
    file(name);
    return std::make_shared<File>(files_[std::string(name)], std::string(name));
  }
  Result<void> rename(std::string_view from, std::string_view to) override {
    if (!holds(from)) return missing(from);
    auto slot = std::move(files_[std::string(from)]);
    files_.erase(std::string(from));
    files_[std::string(to)] = std::move(slot);
    return {};
  }
  Result<void> remove(std::string_view name) override {
    if (files_.erase(std::string(name)) == 0) return missing(name);
    return {};
  }
  Result<void> make_folder(std::string_view name) override {
    folders_.emplace(name);
    return {};
  }
  Result<void> sync_folder(std::string_view) override { return {}; }
  Result<std::vector<std::string>> list(std::string_view folder) override {
    if (!folder.empty() && !folders_.contains(std::string(folder))) return missing(folder);
    std::vector<std::string> names;
    for (const auto& [name, slot] : files_) {
      if (folder_of(name) != folder) continue;
      names.push_back(name.substr(folder.empty() ? 0 : folder.size() + 1));
    }
    return names;
  }
  Result<std::uint64_t> room_bytes() override { return std::uint64_t{1} << 40; }
  std::string path(std::string_view name) const override { return "memory/" + std::string(name); }

 private:
  class File final : public DiskFile {
   public:
    File(std::shared_ptr<Contents> contents, std::string name)
        : contents_(std::move(contents)), name_(std::move(name)), size_bytes_(contents_->size()) {}

    Result<void> append(Pieces pieces) override {
      for (const auto piece : pieces) {
        contents_->resize(std::max(contents_->size(), size_bytes_ + piece.size()));
        std::ranges::copy(piece, contents_->begin() + static_cast<std::ptrdiff_t>(size_bytes_));
        size_bytes_ += piece.size();
      }
      return {};
    }
    Result<void> make_room(std::uint64_t bytes) override {
      contents_->resize(std::max<std::size_t>(contents_->size(), size_bytes_ + bytes));
      return {};
    }
    Result<void> sync() override { return {}; }
    Result<void> cut(std::uint64_t size_bytes) override {
      contents_->resize(size_bytes);
      size_bytes_ = size_bytes;
      return {};
    }
    Result<void> read(std::uint64_t offset_bytes, std::span<std::byte> into) const override {
      if (offset_bytes > contents_->size() || into.size() > contents_->size() - offset_bytes) {
        return fail(Errc::kCannotRead, name_ + ": shorter");
      }
      if (!into.empty()) std::memcpy(into.data(), contents_->data() + offset_bytes, into.size());
      return {};
    }
    std::uint64_t size_bytes() const override { return size_bytes_; }

   private:
    std::shared_ptr<Contents> contents_;
    std::string name_;
    std::size_t size_bytes_;
  };

  tl::unexpected<Error> missing(std::string_view name) const {
    return fail(Errc::kRunMissing, path(name) + ": missing");
  }

  std::map<std::string, std::shared_ptr<Contents>> files_;
  std::set<std::string> folders_;
};

}  // namespace wide::store
