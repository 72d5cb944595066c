#pragma once
// A bench that cannot get what it needs of the machine.

#include <cerrno>
#include <string>
#include <system_error>

#include "wide/base/error.h"

namespace wide::apps::bench {

// Failure(kMachine): what was tried, and what errno says of it.
[[noreturn]] inline void give_up(const std::string& what) {
  const int code = errno;
  throw Failure(Errc::kMachine, what + ": " + std::system_category().message(code));
}

}  // namespace wide::apps::bench
