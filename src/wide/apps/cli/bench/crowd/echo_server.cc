#include "wide/apps/cli/bench/crowd/echo_server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "wide/apps/cli/bench/loopback.h"

namespace wide::apps::bench {

namespace {

void watch(int epoll, int socket) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = socket;
  ::epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event);
}

void answer_call(int epoll, int listener) {
  const int caller = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (caller < 0) return;
  const int yes = 1;
  ::setsockopt(caller, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  watch(epoll, caller);
}

void echo(int caller) {
  std::array<char, 4096> room;
  const auto count = ::recv(caller, room.data(), room.size(), 0);
  if (count > 0) ::send(caller, room.data(), static_cast<std::size_t>(count), MSG_NOSIGNAL);
  if (count == 0) ::close(caller);
}

[[noreturn]] void serve(int listener) {
  const int epoll = ::epoll_create1(0);
  watch(epoll, listener);
  std::array<epoll_event, 128> events;
  for (;;) {
    const int count = ::epoll_wait(epoll, events.data(), events.size(), -1);
    for (int i = 0; i < count; ++i) {
      const int ready = events[static_cast<std::size_t>(i)].data.fd;
      if (ready == listener) {
        answer_call(epoll, listener);
      } else {
        echo(ready);
      }
    }
  }
}

}  // namespace

EchoServer::EchoServer()
    : listener_(listen_on_loopback(port_)),
      process_([this] { serve(listener_.number()); }, Child::Fate::kKilled) {}

}  // namespace wide::apps::bench
