#pragma once
// WIDE_CHECK(condition) and WIDE_CHECK(condition, "why"): a broken promise inside our own code.
// Prints the place and aborts, in release builds too. Never for what a peer or a user sent.

namespace wide::base {

[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               const char* why = "");

}  // namespace wide::base

#define WIDE_CHECK(condition, ...)                                                           \
  do {                                                                                       \
    if (!(condition)) [[unlikely]] {                                                         \
      ::wide::base::check_failed(__FILE__, __LINE__, #condition __VA_OPT__(, ) __VA_ARGS__); \
    }                                                                                        \
  } while (false)
