// libwide_failing_alloc.so: preloaded, it makes one allocation of a process fail.
//
//   LD_PRELOAD=…/libwide_failing_alloc.so WIDE_FAIL_ALLOC=120 wide pool …       the 120th
//   WIDE_FAIL_ALLOC=7:4096                    the 7th of at least 4096 bytes
//   WIDE_FAIL_ALLOC=0:4096                    none; at the end stderr says how many there were
//
// Once it has happened stderr says so, in one line that begins with "allocation failed". Counted
// are malloc, calloc, realloc, memalign, aligned_alloc and posix_memalign, and so also operator
// new. The C library's own names for them do the work: asking for them by dlsym would itself
// allocate.

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {

std::atomic<bool> told{false};
std::atomic<std::uint64_t> count{0};
std::uint64_t failing = 0;  // the how-manieth fails; 0: none
std::size_t least_bytes = 0;

void say(const char* format, std::uint64_t number, std::uint64_t bytes) {
  char line[128];
  const int length = snprintf(line, sizeof line, format, static_cast<unsigned long long>(number),
                              static_cast<unsigned long long>(bytes));
  if (length > 0) (void)!write(STDERR_FILENO, line, static_cast<std::size_t>(length));
}

bool fails(std::size_t bytes) {
  if (!told.load(std::memory_order_acquire) || bytes < least_bytes) return false;
  if (count.fetch_add(1, std::memory_order_relaxed) + 1 != failing) return false;
  say("allocation failed on purpose number=%llu bytes=%llu\n", failing, bytes);
  errno = ENOMEM;
  return true;
}

__attribute__((constructor)) void read_environment() {
  const char* text = getenv("WIDE_FAIL_ALLOC");
  if (text == nullptr) return;
  char* end = nullptr;
  failing = strtoull(text, &end, 10);
  if (*end == ':') least_bytes = strtoull(end + 1, nullptr, 10);
  told.store(true, std::memory_order_release);
}

__attribute__((destructor)) void tell_count() {
  if (told && failing == 0) say("allocations counted number=%llu least=%llu\n", count, least_bytes);
}

bool is_power_of_two(std::size_t value) { return value != 0 && (value & (value - 1)) == 0; }

}  // namespace

extern "C" {

__attribute__((visibility("default"))) void* malloc(std::size_t bytes) noexcept {
  return fails(bytes) ? nullptr : __libc_malloc(bytes);
}

__attribute__((visibility("default"))) void* calloc(std::size_t many, std::size_t each) noexcept {
  // An overflow is the C library's to refuse.
  return fails(many * each) ? nullptr : __libc_calloc(many, each);
}

__attribute__((visibility("default"))) void* realloc(void* old, std::size_t bytes) noexcept {
  return fails(bytes) ? nullptr : __libc_realloc(old, bytes);
}

__attribute__((visibility("default"))) void* memalign(std::size_t alignment,
                                                      std::size_t bytes) noexcept {
  return fails(bytes) ? nullptr : __libc_memalign(alignment, bytes);
}

__attribute__((visibility("default"))) void* aligned_alloc(std::size_t alignment,
                                                           std::size_t bytes) noexcept {
  return fails(bytes) ? nullptr : __libc_memalign(alignment, bytes);
}

__attribute__((visibility("default"))) int posix_memalign(void** place, std::size_t alignment,
                                                          std::size_t bytes) noexcept {
  if (!is_power_of_two(alignment) || alignment % sizeof(void*) != 0) return EINVAL;
  if (fails(bytes)) return ENOMEM;
  void* made = __libc_memalign(alignment, bytes);
  if (made == nullptr) return ENOMEM;
  *place = made;
  return 0;
}

}  // extern "C"
