#pragma once
// The disk of this machine, below one folder. Carries the failpoints disk.append, disk.cut and
// disk.sync.

#include <filesystem>

#include "wide/store/disk.h"

namespace wide::store {

class RealDisk final : public Disk {
 public:
  explicit RealDisk(std::filesystem::path folder);  // which is there; "": the current one

  Result<DiskFilePtr> open(std::string_view name, Open how) override;
  Result<void> rename(std::string_view from, std::string_view to) override;
  Result<void> remove(std::string_view name) override;
  Result<void> make_folder(std::string_view name) override;
  Result<void> sync_folder(std::string_view name) override;
  Result<std::vector<std::string>> list(std::string_view folder) override;
  Result<std::uint64_t> room_bytes() override;
  std::string path(std::string_view name) const override;

 private:
  std::filesystem::path folder_;
};

}  // namespace wide::store
