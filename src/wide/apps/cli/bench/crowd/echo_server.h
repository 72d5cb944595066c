#pragma once
// The yardstick of small requests: a process that sends back whatever comes, with as few calls of
// the kernel as there can be (one wait for all that are ready, a receive and a send for each). It
// reads no frames, checks nothing and knows nobody.

#include <cstdint>

#include "wide/apps/cli/bench/child.h"
#include "wide/store/descriptor.h"

namespace wide::apps::bench {

class EchoServer final {
 public:
  EchoServer();  // forks: there must be no other thread

  std::uint16_t port() const { return port_; }
  const Child& process() const { return process_; }

 private:
  std::uint16_t port_ = 0;
  store::Descriptor listener_;
  Child process_;
};

}  // namespace wide::apps::bench
