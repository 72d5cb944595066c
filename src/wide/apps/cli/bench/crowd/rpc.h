#pragma once
// `wide bench rpc`: small requests to a pool, beside a bare epoll echo server.

#include "wide/apps/cli/bench/report.h"
#include "wide/apps/edge/environment.h"

namespace wide::apps::bench {

Report bench_rpc(double seconds, const Environment& environment);

}  // namespace wide::apps::bench
