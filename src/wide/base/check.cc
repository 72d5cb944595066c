#include "wide/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace wide::base {

void check_failed(const char* file, int line, const char* condition, const char* why) {
  std::fprintf(stderr, "W901 a bug in wide: %s:%d: %s %s\n", file, line, condition, why);
  std::abort();
}

}  // namespace wide::base
