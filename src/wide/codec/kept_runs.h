#pragma once
// Which words of a block are coded (planes.h). Long runs of +0.0 are left out: the gradient of a
// dead feature is nothing else, and words that are not coded take no time.
//
//   2 u8 | kept | empty | kept | empty …   until every whole group is named; nothing, not even the
//                                          2, where all words are kept
//
//   kept   groups of 16 words to code: one or more, but none where a block begins empty
//   empty  groups of +0.0: two or more, for one alone costs about what it saves
//
// A number below 128 takes one byte, others two: the low seven bits and bit 7, then the rest. The
// last words of a block, fewer than a group, are always kept.
//
// No allocation: the most runs that a block can have lie in the object.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "wide/base/bytes.h"
#include "wide/codec/lossless.h"

namespace wide::codec {

inline constexpr std::uint8_t kRunsFollow = 2;  // a table begins with 0 or 1
inline constexpr std::size_t kRunGroup = 16;    // words
inline constexpr std::size_t kEmptyGroupsLeast = 2;

struct WordRun {
  std::size_t begin = 0;
  std::size_t count = 0;
};

class KeptRuns final {
 public:
  // Of a block of so many words, one or more, kBlockBytesMax at most: all are kept.
  explicit KeptRuns(std::size_t block_words);

  void keep_all();
  // Leaves out the long runs of +0.0 in `raw`, which is the block, but for one group where nothing
  // else is there.
  void leave_out_zeros(std::span<const std::byte> raw);

  // What write() wrote; false where it is anything else.
  bool read(ByteReader& from);
  // coded_bytes() to `to`; returns their end.
  std::byte* write(std::byte* to) const;
  std::size_t coded_bytes() const;

  std::size_t word_count() const { return word_count_; }  // kept: one or more
  std::size_t left_out_count() const { return block_words_ - word_count_; }
  std::size_t size() const { return run_count_; }
  WordRun operator[](std::size_t index) const;

  // Writes +0.0 to the block's words that are not kept.
  void fill_gaps(std::byte* words) const;

 private:
  struct Groups {
    std::uint16_t begin;
    std::uint16_t end;
  };
  static constexpr std::size_t kGroupsMax = kBlockBytesMax / (4 * kRunGroup);
  static constexpr std::size_t kRunsMax = kGroupsMax / (kEmptyGroupsLeast + 1) + 2;

  template <class Visit>
  void visit_numbers(const Visit& visit) const;
  void add(std::size_t begin, std::size_t end);

  std::size_t block_words_;
  std::size_t whole_groups_;
  std::size_t all_groups_;  // with the last words
  std::size_t word_count_ = 0;
  std::size_t run_count_ = 0;
  std::array<Groups, kRunsMax> runs_;
};

// Goes over the words that are kept, in pieces.
class KeptForwards final {
 public:
  explicit KeptForwards(const KeptRuns& runs) : runs_(runs), left_(runs[0]) {}

  // The next words: `most` or fewer, but not none. The caller knows that some are left.
  WordRun next(std::size_t most);

 private:
  const KeptRuns& runs_;
  std::size_t index_ = 0;
  WordRun left_;  // of that run
};

// The same from the last to the first.
class KeptBackwards final {
 public:
  explicit KeptBackwards(const KeptRuns& runs)
      : runs_(runs), index_(runs.size() - 1), left_(runs[index_]) {}

  WordRun next(std::size_t most);

 private:
  const KeptRuns& runs_;
  std::size_t index_;
  WordRun left_;
};

}  // namespace wide::codec
