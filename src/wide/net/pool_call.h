#pragma once
// Short calls to a pool: what is the job, how does it stand.

#include "wide/base/clock.h"
#include "wide/net/endpoint.h"
#include "wide/wire/messages.h"

namespace wide::net {

struct PoolAnswer {
  wire::Welcome welcome;
  wire::StatusReport status;
  std::vector<Duration> round_trips;  // of small questions, one after another
};

struct PoolQuestion {
  Duration patience = std::chrono::seconds(4);
  std::uint32_t round_trips = 0;  // to be timed, once the rest is answered
};

// Dials as an observer and hangs up. kPoolUnreachable within its patience, saying what was tried.
Result<PoolAnswer> ask_pool(const Endpoint& pool, const PoolQuestion& question = {});

}  // namespace wide::net
