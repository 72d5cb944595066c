#include "wide/engine/pool/update_ring.h"

#include <utility>

#include "wide/base/check.h"

namespace wide::engine {

namespace {
constexpr std::size_t kEntriesMax = 1024;
}

void UpdateRing::push(Step step, std::uint64_t chain, wire::SharedPacket packet) {
  if (entries_.empty()) first_ = step;
  WIDE_CHECK(step == first_ + entries_.size(), "updates come without gaps");
  const std::size_t bytes = wire::wire_bytes(*packet);
  bytes_ += bytes;
  entries_.push_back({chain, std::move(packet), bytes});
  while (entries_.size() > count_least_ && (bytes_ > bytes_max_ || entries_.size() > kEntriesMax)) {
    bytes_ -= entries_.front().bytes;
    entries_.pop_front();
    ++first_;
  }
}

bool UpdateRing::covers(Step step) const {
  return step >= first_ && step < first_ + entries_.size();
}

bool UpdateRing::reaches(Step step, std::uint64_t chain) const {
  return covers(step) && entries_[step - first_].chain == chain;
}

const wire::SharedPacket& UpdateRing::packet(Step step) const {
  WIDE_CHECK(covers(step));
  return entries_[step - first_].packet;
}

std::uint64_t UpdateRing::chain(Step step) const {
  WIDE_CHECK(covers(step));
  return entries_[step - first_].chain;
}

}  // namespace wide::engine
