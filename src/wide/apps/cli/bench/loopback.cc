#include "wide/apps/cli/bench/loopback.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <utility>

#include "wide/apps/cli/bench/give_up.h"

namespace wide::apps::bench {

namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

Descriptor tcp_socket(int flags) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
  if (!socket.is_open()) give_up("a socket");
  return socket;
}

void send_at_once(const Descriptor& socket) {
  const int yes = 1;
  ::setsockopt(socket.number(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

}  // namespace

// Connects while it blocks: a listener whose queue is full makes the caller wait, not fail.
Descriptor call_loopback(std::uint16_t port) {
  Descriptor socket = tcp_socket(0);
  auto address = loopback(port);
  if (::connect(socket.number(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    give_up("calling over loopback");
  }
  send_at_once(socket);
  return socket;
}

Descriptor listen_on_loopback(std::uint16_t& port) {
  Descriptor socket = tcp_socket(SOCK_NONBLOCK);
  auto address = loopback(0);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  socklen_t length = sizeof address;
  if (::bind(socket.number(), any, length) != 0 || ::listen(socket.number(), SOMAXCONN) != 0 ||
      ::getsockname(socket.number(), any, &length) != 0) {
    give_up("listening on loopback");
  }
  port = ntohs(address.sin_port);
  return socket;
}

Wire loopback_wire() {
  std::uint16_t port = 0;
  const Descriptor listener = listen_on_loopback(port);
  Descriptor near = call_loopback(port);
  Descriptor far(::accept4(listener.number(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!far.is_open()) give_up("answering a call");
  send_at_once(far);
  return {std::move(near), std::move(far)};
}

Poller::Poller() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (!epoll_.is_open()) give_up("an epoll");
}

void Poller::watch(int socket, Watched& owner) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = &owner;
  if (::epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, socket, &event) != 0)
    give_up("watching a socket");
}

void Poller::watch_room(int socket, Watched& owner, bool wanted) {
  epoll_event event{};
  event.events = wanted ? EPOLLIN | EPOLLOUT : EPOLLIN;
  event.data.ptr = &owner;
  if (::epoll_ctl(epoll_.number(), EPOLL_CTL_MOD, socket, &event) != 0)
    give_up("watching a socket");
}

void Poller::at_every_turn(std::function<void()> chore) { chores_.push_back(std::move(chore)); }

void Poller::turn(int milliseconds_max) {
  std::array<epoll_event, 256> events;
  const int count = ::epoll_wait(epoll_.number(), events.data(), events.size(), milliseconds_max);
  for (int i = 0; i < count; ++i) {
    auto& owner = *static_cast<Watched*>(events[static_cast<std::size_t>(i)].data.ptr);
    const auto seen = events[static_cast<std::size_t>(i)].events;
    if ((seen & EPOLLOUT) != 0) owner.writable();
    if ((seen & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) owner.readable();
  }
  for (const auto& chore : chores_) chore();
}

}  // namespace wide::apps::bench
