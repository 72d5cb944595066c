#pragma once
// A plain file that is open for reading, and its stamp when it was opened. It stays the same file
// whatever becomes of its name.

#include <filesystem>

#include "wide/base/error.h"
#include "wide/data/file_stamp.h"

namespace wide::data {

class OpenFile final {
 public:
  // kSamplesMissing where it cannot be opened, or is no plain file.
  static Result<OpenFile> open(const std::filesystem::path& path);

  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&&) = delete;
  ~OpenFile();

  int number() const { return file_; }
  const FileStamp& stamp() const { return stamp_; }

  // kSamplesChanged where it was written to since.
  Result<void> unchanged() const;

 private:
  OpenFile(int file, FileStamp stamp);

  int file_;
  FileStamp stamp_;
};

}  // namespace wide::data
