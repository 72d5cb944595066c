#include "wide/codec/kept_runs.h"

#include <algorithm>
#include <cstring>

#include "wide/base/check.h"

namespace wide::codec {

namespace {

constexpr std::size_t kGroupBytes = 4 * kRunGroup;

bool is_empty(const std::byte* group) {
  std::array<std::uint64_t, kGroupBytes / 8> words;
  std::memcpy(words.data(), group, kGroupBytes);
  std::uint64_t any = 0;
  for (const std::uint64_t word : words) any |= word;
  return any == 0;
}

std::size_t number_bytes(std::size_t number) { return number < 128 ? 1 : 2; }

std::byte* put_number(std::size_t number, std::byte* to) {
  if (number < 128) {
    *to++ = static_cast<std::byte>(number);
    return to;
  }
  *to++ = static_cast<std::byte>(number | 128);
  *to++ = static_cast<std::byte>(number >> 7);
  return to;
}

std::size_t get_number(ByteReader& from) {
  const std::size_t low = from.get<std::uint8_t>();
  if (low < 128) return low;
  const std::size_t high = from.get<std::uint8_t>();
  if (high == 0) from.refuse();  // one byte would have done
  return low - 128 + 128 * high;
}

}  // namespace

KeptRuns::KeptRuns(std::size_t block_words)
    : block_words_(block_words),
      whole_groups_(block_words / kRunGroup),
      all_groups_((block_words + kRunGroup - 1) / kRunGroup) {
  WIDE_CHECK(block_words > 0 && block_words <= kBlockBytesMax / 4, "one block at a time");
  keep_all();
}

void KeptRuns::keep_all() {
  word_count_ = run_count_ = 0;
  add(0, all_groups_);
}

void KeptRuns::add(std::size_t begin, std::size_t end) {
  runs_[run_count_] = {static_cast<std::uint16_t>(begin), static_cast<std::uint16_t>(end)};
  word_count_ += (*this)[run_count_++].count;
}

WordRun KeptRuns::operator[](std::size_t index) const {
  const Groups& run = runs_[index];
  const std::size_t end = std::min(run.end * kRunGroup, block_words_);
  return {run.begin * kRunGroup, end - run.begin * kRunGroup};
}

void KeptRuns::leave_out_zeros(std::span<const std::byte> raw) {
  static_assert(kEmptyGroupsLeast == 2, "a look at every second group misses no run");
  const auto empty_at = [&](std::size_t group) {
    return is_empty(raw.data() + kGroupBytes * group);
  };
  word_count_ = run_count_ = 0;
  std::size_t kept = 0;  // where what is kept begins
  for (std::size_t look = 1; look < whole_groups_; look += 2) {
    if (!empty_at(look)) continue;
    const std::size_t begin = empty_at(look - 1) ? look - 1 : look;
    std::size_t end = look + 1;
    while (end < whole_groups_ && empty_at(end)) ++end;
    look = end;
    if (end - begin < kEmptyGroupsLeast) continue;
    if (kept < begin) add(kept, begin);
    kept = end;
  }
  if (kept < all_groups_) add(kept, all_groups_);
  if (run_count_ == 0) add(0, 1);
}

// In turn, kept and empty.
template <class Visit>
void KeptRuns::visit_numbers(const Visit& visit) const {
  std::size_t at = 0;
  for (std::size_t i = 0; i < run_count_; ++i) {
    const std::size_t begin = runs_[i].begin;
    const std::size_t end = std::min<std::size_t>(runs_[i].end, whole_groups_);
    if (i == 0 && begin > 0) visit(0);
    if (at < begin) visit(begin - at);
    if (begin < end) visit(end - begin);
    at = end;
  }
  if (at < whole_groups_) visit(whole_groups_ - at);
}

std::size_t KeptRuns::coded_bytes() const {
  if (left_out_count() == 0) return 0;
  std::size_t bytes = 1;
  visit_numbers([&](std::size_t number) { bytes += number_bytes(number); });
  return bytes;
}

std::byte* KeptRuns::write(std::byte* to) const {
  if (left_out_count() == 0) return to;
  *to++ = std::byte{kRunsFollow};
  visit_numbers([&](std::size_t number) { to = put_number(number, to); });
  return to;
}

bool KeptRuns::read(ByteReader& from) {
  keep_all();
  ByteReader ahead = from;
  if (ahead.get<std::uint8_t>() != kRunsFollow) return true;

  from = ahead;
  word_count_ = run_count_ = 0;
  std::size_t at = 0;
  for (bool is_kept = true; at < whole_groups_; is_kept = !is_kept) {
    const std::size_t groups = get_number(from);
    const std::size_t least = is_kept ? at > 0 : kEmptyGroupsLeast;
    if (groups < least || groups > whole_groups_ - at) return false;
    // The last words belong to the run before them, if that one reaches them.
    const std::size_t end = at + groups == whole_groups_ ? all_groups_ : at + groups;
    if (is_kept && groups > 0) add(at, end);
    at += groups;
    if (!is_kept && at == whole_groups_ && at < all_groups_) add(at, all_groups_);
  }
  return from.ok() && word_count_ > 0 && left_out_count() > 0;
}

void KeptRuns::fill_gaps(std::byte* words) const {
  std::size_t at = 0;
  for (std::size_t i = 0; i < run_count_; ++i) {
    const WordRun run = (*this)[i];
    std::memset(words + 4 * at, 0, 4 * (run.begin - at));
    at = run.begin + run.count;
  }
  std::memset(words + 4 * at, 0, 4 * (block_words_ - at));
}

WordRun KeptForwards::next(std::size_t most) {
  if (left_.count == 0) left_ = runs_[++index_];
  const WordRun piece{left_.begin, std::min(left_.count, most)};
  left_.begin += piece.count;
  left_.count -= piece.count;
  return piece;
}

WordRun KeptBackwards::next(std::size_t most) {
  if (left_.count == 0) left_ = runs_[--index_];
  const std::size_t count = std::min(left_.count, most);
  left_.count -= count;
  return {left_.begin + left_.count, count};
}

}  // namespace wide::codec
