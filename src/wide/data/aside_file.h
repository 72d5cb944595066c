#pragma once
// A file that is written aside, in the same folder, and renamed into place when it is whole.
// Several processes may write the same target at once: each has its own file aside, and the last
// rename wins. Without commit() nothing is left behind.

#include <cstddef>
#include <filesystem>
#include <span>

#include "wide/base/error.h"

namespace wide::data {

class AsideFile final {
 public:
  // Makes the target's folder where it is missing. kCannotWrite, naming the target.
  static Result<AsideFile> create(const std::filesystem::path& target);

  AsideFile(AsideFile&& other) noexcept;
  AsideFile& operator=(AsideFile&&) = delete;
  ~AsideFile();

  Result<void> write(std::span<const std::byte> bytes);
  Result<void> commit();  // syncs and renames; once
  // Renames only: for what is checked whenever it is read, and may be lost with the power.
  Result<void> commit_unsynced();

 private:
  AsideFile(int file, std::filesystem::path aside, std::filesystem::path target);
  tl::unexpected<Error> refuse() const;  // in the words of errno

  int file_;
  std::filesystem::path aside_;
  std::filesystem::path target_;
};

}  // namespace wide::data
