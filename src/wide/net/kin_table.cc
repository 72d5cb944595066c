#include "wide/net/kin_table.h"

#include <fmt/format.h>
#include <immintrin.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <span>

#include "wide/base/check.h"
#include "wide/base/error.h"
#include "wide/net/steady.h"

namespace wide::net {

namespace {

constexpr unsigned kBlocksMax = engine::kHelpedBlocksMax;
constexpr unsigned kDrawersMax = 2 * kBlocksMax;  // of both sheets
constexpr Duration kPatienceLeast = std::chrono::microseconds(50);
constexpr Duration kPatienceUnknown = std::chrono::milliseconds(1);
constexpr unsigned kCallsInVain = 64;  // then one more is called: a neighbour may be gone
constexpr int kLooksBetweenYields = 64;

// claims: call | left | right
constexpr std::uint64_t claims_of(std::uint32_t call, Block left, Block right) {
  return std::uint64_t{call} << 32 | std::uint64_t{left} << 16 | right;
}
constexpr std::uint32_t call_of(std::uint64_t claims) {
  return static_cast<std::uint32_t>(claims >> 32);
}
constexpr Block left_of(std::uint64_t claims) { return static_cast<Block>(claims >> 16 & 0xffff); }
constexpr Block right_of(std::uint64_t claims) { return static_cast<Block>(claims & 0xffff); }

// mail: call | seat | drawer + 1, or 0 while nobody has written
constexpr std::uint64_t mail_of(std::uint32_t call, unsigned seat, unsigned drawer) {
  return std::uint64_t{call} << 32 | std::uint64_t{seat} << 16 | (drawer + 1);
}
// label: call | holder | place + 1, or 0 while the drawer is being filled
constexpr std::uint64_t label_of(std::uint32_t call, unsigned holder, Block place) {
  return std::uint64_t{call} << 32 | std::uint64_t{holder} << 16 | (place + 1);
}

// Words that somebody may write while they are read; then they are not used.
using SharedWord = std::atomic<std::uint64_t>;
static_assert(sizeof(SharedWord) == 8 && SharedWord::is_always_lock_free);

// Floats lie there two by two, and an array of them begins where a cache line does.
constexpr std::size_t kFloatsInLine = 16;
constexpr std::size_t words_of(std::size_t floats) {
  return (floats + kFloatsInLine - 1) / kFloatsInLine * (kFloatsInLine / 2);
}
constexpr std::size_t kArraysMax = engine::table_arrays(kBlocksMax, 1);
constexpr std::size_t kWordsMax = engine::kTableValuesMax / 2 + kArraysMax * words_of(1);

void copy_out(std::span<const float> from, SharedWord* to) {
  for (; from.size() >= 2; from = from.subspan(2)) {
    std::uint64_t word;
    std::memcpy(&word, from.data(), sizeof word);
    to++->store(word, std::memory_order_relaxed);
  }
  if (!from.empty()) to->store(std::bit_cast<std::uint32_t>(from[0]), std::memory_order_relaxed);
}
void copy_in(const SharedWord* from, std::span<float> to) {
  for (; to.size() >= 2; to = to.subspan(2)) {
    const std::uint64_t word = from++->load(std::memory_order_relaxed);
    std::memcpy(to.data(), &word, sizeof word);
  }
  if (!to.empty()) {
    to[0] = std::bit_cast<float>(static_cast<std::uint32_t>(from->load(std::memory_order_relaxed)));
  }
}

}  // namespace

struct KinTable::Sheet {
  alignas(64) SharedWord claims{0};
  SharedWord step{0};
  SharedWord first_block{0};
  alignas(64) std::array<SharedWord, kBlocksMax> mail{};
};

struct KinTable::Seat {
  struct Drawer {
    SharedWord label{0};
    std::atomic<double> loss_sum{0};
    std::array<SharedWord, 4> sha256{};
  };

  alignas(64) std::atomic<std::uint32_t> last_call{0};
  std::atomic<std::uint32_t> called{0};  // so many of the next seats
  alignas(64) std::atomic<std::uint32_t> asleep{0};
  std::array<Sheet, 2> sheets{};
  alignas(64) std::array<Drawer, kDrawersMax> drawers{};
  // Weights of both sheets, then what lies in the drawers, packed by the job's own size: pages that
  // it does not need are never touched.
  alignas(64) std::array<SharedWord, kWordsMax> arrays{};
};

// The kernel's zeros are what a seat begins with: no page is touched before it is used.
KinTable::KinTable(unsigned seats) {
  WIDE_CHECK(seats >= 1 && seats <= engine::kHelpedNodesMax);
  void* const memory = mmap(nullptr, seats * sizeof(Seat), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    throw Failure(Errc::kMachine,
                  fmt::format("no memory that nodes could share: {}", strerror(errno)));
  }
  seats_ = std::launder(static_cast<Seat*>(memory));
  for (unsigned i = 0; i < seats; ++i) {
    bells_.push_back(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    if (bells_.back() >= 0) continue;
    throw Failure(Errc::kMachine, fmt::format("no bell for a node: {}", strerror(errno)));
  }
}

KinTable::~KinTable() {
  munmap(seats_, bells_.size() * sizeof(Seat));
  for (const int bell : bells_) {
    if (bell >= 0) close(bell);
  }
}

KinSeat::KinSeat(KinTable& table, unsigned index, unsigned hands)
    : table_(table), index_(index), hands_(hands) {
  WIDE_CHECK(index < table.size());
}

KinSeat::Seat& KinSeat::seat(unsigned index) const { return table_.seats_[index]; }

SharedWord* KinSeat::weights_on(unsigned holder, std::uint32_t call) const {
  return seat(holder).arrays.data() + call % 2 * words_of(value_count_);
}

SharedWord* KinSeat::sum_in(unsigned owner, unsigned drawer) const {
  return seat(owner).arrays.data() + (2 + drawer) * words_of(value_count_);
}

KinSeat::Sheet& KinSeat::sheet_of(unsigned holder, std::uint32_t call) const {
  return seat(holder).sheets[call % 2];
}

// Whoever sat here before may have been killed in the middle of a call: both are over.
void KinSeat::sit_down(std::size_t value_count, Block blocks, std::uint32_t delay) {
  const std::uint64_t arrays = engine::table_arrays(blocks, delay);
  WIDE_CHECK(blocks <= kBlocksMax && arrays * value_count <= engine::kTableValuesMax);
  value_count_ = value_count;
  drawers_ = static_cast<unsigned>(arrays - kCallsAtOnce);
  called_ = std::min(hands_, table_.size()) - 1;
  last_call_ = seat(index_).last_call.load() + 2;
  for (const std::uint32_t call : {last_call_, last_call_ - 1}) {
    sheet_of(index_, call).claims.store(claims_of(call, 0, 0));
  }
  seat(index_).last_call.store(last_call_);
  wake_up();
}

engine::Kin& KinSeat::call(const wire::Lease& lease, const engine::Weights& weights) {
  WIDE_CHECK(lease.block_count <= kBlocksMax && weights->values.size() == value_count_);
  Seat& own = seat(index_);
  nobody_came_ = anyone_came_ ? 0 : nobody_came_ + 1;
  anyone_came_ = false;
  const std::uint32_t call = ++last_call_;
  Sheet& sheet = sheet_of(index_, call);
  sheet.claims.store(claims_of(call, 0, 0));  // from here on nobody can claim of the last one
  std::atomic_thread_fence(std::memory_order_release);
  for (Block i = 0; i < lease.block_count; ++i) {
    sheet.mail[i].store(std::uint64_t{call} << 32, std::memory_order_relaxed);
  }
  sheet.step.store(lease.step, std::memory_order_relaxed);
  sheet.first_block.store(lease.first_block, std::memory_order_relaxed);
  const unsigned more = called_ > 0 ? nobody_came_ / kCallsInVain : 0;
  own.called.store(std::min(called_ + more, table_.size() - 1), std::memory_order_relaxed);
  copy_out(weights->values.values, weights_on(index_, call));
  sheet.claims.store(claims_of(call, 0, lease.block_count));
  own.last_call.store(call);
  ring();
  calls_[call % 2].begin(call);
  return calls_[call % 2];
}

// Only those who are called and do not look by themselves.
void KinSeat::ring() {
  const unsigned called = seat(index_).called.load(std::memory_order_relaxed);
  for (unsigned i = 1; i <= called; ++i) {
    const unsigned neighbour = (index_ + i) % table_.size();
    if (seat(neighbour).asleep.load() == 0 || seat(neighbour).asleep.exchange(0) == 0) continue;
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = write(table_.bells_[neighbour], &one, sizeof one);
  }
}

void KinSeat::learn_pace() {
  const Time now = steady_now();
  if (taken_at_ > Time{}) {
    const Duration span = now - taken_at_;
    const Duration known = pace_ > Duration{} ? pace_ : span;
    pace_ = known + (std::min(span, 4 * known) - known) / 8;  // it may have been stopped
  }
  taken_at_ = now;
}

Duration KinSeat::patience() const {
  return pace_ > Duration{} ? std::max(kPatienceLeast, pace_ + pace_ / 2) : kPatienceUnknown;
}

void KinSeat::Call::begin(std::uint32_t number) { number_ = number; }

std::optional<Block> KinSeat::Call::take() {
  SharedWord& claims = seat_.sheet_of(seat_.index_, number_).claims;
  std::uint64_t seen = claims.load();
  while (left_of(seen) < right_of(seen)) {
    const auto next = claims_of(number_, left_of(seen) + 1, right_of(seen));
    if (!claims.compare_exchange_weak(seen, next)) continue;
    seat_.learn_pace();
    return left_of(seen);
  }
  seat_.taken_at_ = {};
  return std::nullopt;
}

std::uint64_t KinSeat::Call::mail_for(Block place) const {
  return seat_.sheet_of(seat_.index_, number_).mail[place].load();
}

bool KinSeat::Call::has_come(Block place) const { return (mail_for(place) & 0xffff) != 0; }

std::optional<engine::BlockValue> KinSeat::Call::collect(Block place, BufferPool& buffers) {
  const Time until = steady_now() + seat_.patience();
  for (int looks = 1; !has_come(place); ++looks) {
    _mm_pause();
    if (looks % kLooksBetweenYields != 0) continue;
    if (steady_now() > until) return std::nullopt;
    sched_yield();
  }
  const std::uint64_t mail = mail_for(place);
  const auto owner = static_cast<unsigned>(mail >> 16 & 0xffff);
  const auto drawer = static_cast<unsigned>(mail & 0xffff) - 1;
  const std::uint64_t wanted = label_of(number_, seat_.index_, place);
  const auto& filled = seat_.seat(owner).drawers[drawer];
  if (filled.label.load() != wanted) return std::nullopt;
  engine::BlockValue block;
  block.value.sum = take_floats(buffers, seat_.value_count_);
  copy_in(seat_.sum_in(owner, drawer), block.value.sum.values);
  block.value.loss_sum = filled.loss_sum.load(std::memory_order_relaxed);
  std::array<std::uint64_t, 4> hash;
  for (std::size_t i = 0; i < 4; ++i) hash[i] = filled.sha256[i].load(std::memory_order_relaxed);
  std::memcpy(block.sha256.bytes.data(), hash.data(), sizeof hash);
  std::atomic_thread_fence(std::memory_order_acquire);
  if (filled.label.load(std::memory_order_relaxed) != wanted) return std::nullopt;
  block.helper = static_cast<std::uint16_t>(owner + 1);
  seat_.anyone_came_ = true;
  return block;
}

bool KinSeat::is_called(unsigned holder) const {
  const unsigned behind = (index_ + table_.size() - holder) % table_.size();
  return behind <= seat(holder).called.load(std::memory_order_relaxed);
}

const engine::Weights& KinSeat::weights_of(unsigned holder, std::uint32_t call,
                                           BufferPool& buffers) {
  if (copied_ && copied_from_ == holder && copied_call_ == call) return copied_;
  copied_.reset();
  auto copy = std::make_shared<engine::WeightsVersion>();
  copy->values = take_floats(buffers, value_count_);
  copy_in(weights_on(holder, call), copy->values.values);
  copied_ = std::move(copy);
  copied_from_ = holder;
  copied_call_ = call;
  return copied_;
}

// Of each holder the older call first.
std::optional<KinSeat::Task> KinSeat::next_task(bool any, BufferPool& buffers) {
  for (unsigned i = 1; i < table_.size(); ++i) {
    const unsigned holder = (index_ + table_.size() - i) % table_.size();
    const std::uint32_t last = seat(holder).last_call.load();
    for (const std::uint32_t call : {last - 1, last}) {
      const std::uint64_t claims = sheet_of(holder, call).claims.load();
      if (left_of(claims) >= right_of(claims) || !(any || is_called(holder))) continue;
      if (auto task = claim(holder, call_of(claims), buffers)) return task;
    }
  }
  return std::nullopt;
}

bool KinSeat::is_wanted(bool any) const {
  for (unsigned i = 1; i < table_.size(); ++i) {
    const unsigned holder = (index_ + table_.size() - i) % table_.size();
    if (!(any || is_called(holder))) continue;
    for (const std::uint32_t sheet : {0u, 1u}) {
      const std::uint64_t claims = sheet_of(holder, sheet).claims.load();
      if (left_of(claims) < right_of(claims)) return true;
    }
  }
  return false;
}

// The rightmost block that is left of this call; none where there is none, or another call.
std::optional<KinSeat::Task> KinSeat::claim(unsigned holder, std::uint32_t call,
                                            BufferPool& buffers) {
  Sheet& sheet = sheet_of(holder, call);
  Task task;
  task.holder = holder;
  task.call = call;
  task.step = sheet.step.load(std::memory_order_relaxed);
  const auto first = sheet.first_block.load(std::memory_order_relaxed);
  task.weights = weights_of(holder, call, buffers);
  std::atomic_thread_fence(std::memory_order_acquire);
  std::uint64_t claims = sheet.claims.load();
  while (call_of(claims) == call && left_of(claims) < right_of(claims)) {
    task.place = right_of(claims) - 1;
    task.block = static_cast<Block>(first) + task.place;
    const auto next = claims_of(call, left_of(claims), task.place);
    if (sheet.claims.compare_exchange_weak(claims, next)) return task;
  }
  if (call_of(claims) != call) copied_.reset();  // it may be half of one and half of another
  return std::nullopt;
}

void KinSeat::hand_over(const Task& task, const engine::BlockValue& computed) {
  Seat& own = seat(index_);
  const unsigned drawer = drawer_++ % drawers_;
  auto& filled = own.drawers[drawer];
  filled.label.store(0);
  std::atomic_thread_fence(std::memory_order_release);
  copy_out(computed.value.sum.values, sum_in(index_, drawer));
  filled.loss_sum.store(computed.value.loss_sum, std::memory_order_relaxed);
  std::array<std::uint64_t, 4> hash;
  std::memcpy(hash.data(), computed.sha256.bytes.data(), sizeof hash);
  for (std::size_t i = 0; i < 4; ++i) filled.sha256[i].store(hash[i], std::memory_order_relaxed);
  filled.label.store(label_of(task.call, task.holder, task.place));
  std::uint64_t nobody = std::uint64_t{task.call} << 32;
  sheet_of(task.holder, task.call)
      .mail[task.place]
      .compare_exchange_strong(nobody, mail_of(task.call, index_, drawer));
}

void KinSeat::fall_asleep() { seat(index_).asleep.store(1); }
void KinSeat::wake_up() { seat(index_).asleep.store(0); }

}  // namespace wide::net
