#pragma once
// Which sockets can be read, or written, now. An epoll set of its own: Asio waits for the set as a
// whole, and a small message costs its part of one look at the set instead of an operation of
// Asio's.
//
//   the set is ready ─▶ look: readable(), writable() of those that are ─▶ after()
//           ▲             └─ and again, a few times, while there are more
//           └─ then timers and whatever was posted have their turn
//
// Sockets are told as long as there is something to read: who leaves bytes in the kernel is told
// again. Used on the I/O thread alone.

#include <sys/epoll.h>

#include <array>
#include <functional>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>

#include "wide/base/error.h"
#include "wide/net/watched.h"

namespace wide::net {

class Lookout final {
 public:
  // after(): everyone who was ready has been told; for what is better done once for all of them.
  explicit Lookout(asio::io_context& io, std::function<void()> after = {});

  enum class For { kBytes, kBytesAndRoom };

  // `who` stays until forget(), and even then until the look at hand is over: those who are told
  // may make each other forgotten.
  Result<void> watch(int socket, Watched& who);        // kMachine: the kernel has no room for it
  void watch_for(For what, int socket, Watched& who);  // of one that is watched already
  void forget(int socket);                             // before it is closed
  void halt() { halted_ = true; }  // nobody is told anything more, not in the look at hand either

 private:
  void wait();
  void look();
  void tell_those_ready(int count);

  asio::posix::stream_descriptor set_;
  std::function<void()> after_;
  std::size_t watched_count_ = 0;
  bool waiting_ = false;
  bool halted_ = false;
  // So few at once: their answers leave while others still ask, and the memory of one batch serves
  // the next.
  std::array<epoll_event, 8> ready_;
};

}  // namespace wide::net
