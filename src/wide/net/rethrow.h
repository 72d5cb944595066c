#pragma once
// What becomes of an exception that leaves a spawned coroutine: it ends run(), and is thrown there.

#include <exception>

namespace wide::net {

inline void rethrow(std::exception_ptr error) {
  if (error) std::rethrow_exception(error);
}

}  // namespace wide::net
