#pragma once
// Short calls to a pool: what is the job, how does it stand.

#include "wide/base/clock.h"
#include "wide/net/endpoint.h"
#include "wide/wire/messages.h"

namespace wide::net {

struct PoolAnswer {
  wire::Welcome welcome;
  wire::StatusReport status;
};

// Dials as an observer and hangs up. kPoolUnreachable within `patience`, saying what was tried.
Result<PoolAnswer> ask_pool(const Endpoint& pool, Duration patience = std::chrono::seconds(4));

}  // namespace wide::net
