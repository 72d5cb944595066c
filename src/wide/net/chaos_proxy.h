#pragma once
// A bad network on demand: listens, dials on for every caller, and does to the bytes between them
// what a ChaosPlan says. One I/O thread.

#include <cstdint>
#include <memory>
#include <optional>

#include "wide/net/chaos_session.h"
#include "wide/net/endpoint.h"

namespace wide::net {

struct ChaosProxyOptions {
  Endpoint listen{"127.0.0.1", 0};
  Endpoint to{};
  ChaosOptions chaos{};
  std::optional<Duration> run_for{};            // nothing: until it is stopped
  Duration dial_max = std::chrono::seconds(5);  // a caller is reset where nobody answers by then
};

class ChaosProxy final {
 public:
  // Binds at once; throws Failure (kPortInUse, kBadAddress).
  explicit ChaosProxy(ChaosProxyOptions options);
  ~ChaosProxy();

  const Endpoint& bound() const;

  // Until SIGINT, SIGTERM, stop() or the end of its time; every connection is then reset.
  void run();
  bool interrupted() const;
  void stop();  // from any thread

  const ChaosCounts& counts() const;  // not while run() goes on

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace wide::net
