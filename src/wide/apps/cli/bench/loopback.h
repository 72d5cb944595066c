#pragma once
// Sockets of a bench, on loopback and without anything of ours in between: a call, a listener, and
// one loop for thousands of them.

#include <cstdint>
#include <functional>
#include <vector>

#include "wide/net/watched.h"
#include "wide/store/descriptor.h"

namespace wide::apps::bench {

using net::Watched;
using store::Descriptor;

// All of these throw Failure(kMachine), saying what was tried.
Descriptor call_loopback(std::uint16_t port);  // sends at once, however little
Descriptor listen_on_loopback(std::uint16_t& port);
struct Wire {
  Descriptor near;
  Descriptor far;
};
Wire loopback_wire();  // both ends of one connection

class Poller final {
 public:
  Poller();

  void watch(int socket, Watched& owner);  // until it is closed
  void watch_room(int socket, Watched& owner, bool wanted);
  void at_every_turn(std::function<void()> chore);
  // Waits so long at most, tells everyone concerned once. Owners may close their own sockets, not
  // each other's.
  void turn(int milliseconds_max);

 private:
  Descriptor epoll_;
  std::vector<std::function<void()>> chores_;
};

}  // namespace wide::apps::bench
