#include "wide/data/remembered_digest.h"

#include <gtest/gtest.h>

#include <vector>

#include "wide/data/scratch_folder.h"

namespace wide::data {
namespace {

class RememberedDigest : public ::testing::Test {
 protected:
  Digest ask(const std::string& purpose = "test 1") { return ask_in(folder_.path(), purpose); }
  Digest ask_in(const std::filesystem::path& cache, const std::string& purpose = "test 1") {
    return remembered_digest(cache, purpose, stamps_, [this] {
      ++computed_count_;
      return sha256("contents");
    });
  }
  std::filesystem::path note() const {
    return std::filesystem::directory_iterator(folder_.path())->path();
  }

  ScratchFolder folder_;
  std::vector<FileStamp> stamps_ = {{"/set/images", 100, 7}, {"/set/labels", 10, 8}};
  int computed_count_ = 0;
};

TEST_F(RememberedDigest, ComputesOnlyOnce) {
  EXPECT_EQ(ask(), sha256("contents"));
  EXPECT_EQ(ask(), sha256("contents"));

  EXPECT_EQ(computed_count_, 1);
}

TEST_F(RememberedDigest, ComputesAnewForOtherStampsAndPurposes) {
  ask();
  stamps_[1].mtime_ns += 1;
  ask();
  stamps_[0].size_bytes += 1;
  ask();
  ask("test 2");

  EXPECT_EQ(computed_count_, 4);
}

TEST_F(RememberedDigest, IgnoresAndRewritesADamagedNote) {
  ask();
  const auto good = read_whole(note());
  for (std::size_t at = 0; at < good.size(); at += 11) {
    auto bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    write_text(note(), bad);
    computed_count_ = 0;

    EXPECT_EQ(ask(), sha256("contents"));

    EXPECT_EQ(computed_count_, 1) << "byte " << at;
    EXPECT_EQ(read_whole(note()), good);
  }
}

TEST_F(RememberedDigest, IgnoresNotesThatAreTooShortOrTooLong) {
  ask();
  const auto good = read_whole(note());
  for (const auto& bad : {std::string(), good.substr(0, good.size() - 1), good + "\n"}) {
    write_text(note(), bad);
    computed_count_ = 0;
    ask();
    EXPECT_EQ(computed_count_, 1);
  }
}

TEST_F(RememberedDigest, WorksWithoutACacheFolderToWriteTo) {
  write_text(folder_ / "file", "in the way");

  EXPECT_EQ(ask_in({}), sha256("contents"));
  EXPECT_EQ(ask_in(folder_ / "file"), sha256("contents"));
}

}  // namespace
}  // namespace wide::data
