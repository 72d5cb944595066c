#pragma once
// Plain sockets that behave as badly as a test wants. For tests.

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "wide/net/endpoint.h"
#include "wide/net/steady.h"

namespace wide::net {

using namespace std::chrono_literals;

// Asks again and again until it is so; false after `limit`.
inline bool eventually(const std::function<bool()>& is_so, Duration limit = 15s) {
  const Time until = steady_now() + limit;
  while (!is_so()) {
    if (steady_now() > until) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

// A blocking socket without any manners.
class RawPeer final {
 public:
  explicit RawPeer(int descriptor) : descriptor_(descriptor) {}
  ~RawPeer() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  RawPeer(RawPeer&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  RawPeer& operator=(RawPeer&&) = delete;

  static int make_socket() { return ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0); }
  static RawPeer dial(const Endpoint& pool, int receive_bytes = 0) {
    const int descriptor = make_socket();
    if (receive_bytes > 0) {
      ::setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof(receive_bytes));
    }
    RawPeer peer(descriptor);
    peer.connect_to(pool);
    return peer;
  }
  bool connect_to(const Endpoint& pool) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(pool.port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return ::connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }

  bool say(std::string_view bytes) {  // false: the other side is gone
    const auto count = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0) last_error_ = errno;
    return count == static_cast<ssize_t>(bytes.size());
  }
  void finish() { ::shutdown(descriptor_, SHUT_WR); }
  void reset() {
    const linger at_once{1, 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    ::close(std::exchange(descriptor_, -1));
  }
  // Whatever comes until the other side hangs up; nothing if it does not within `limit`.
  std::optional<std::string> hear_out(Duration limit = 10s) {
    const Time until = steady_now() + limit;
    std::string heard;
    for (;;) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - steady_now());
      pollfd ready{descriptor_, POLLIN, 0};
      if (left.count() <= 0 || ::poll(&ready, 1, static_cast<int>(left.count())) <= 0) return {};
      char chunk[4096];
      const auto count = ::recv(descriptor_, chunk, sizeof(chunk), 0);
      if (count <= 0) {
        if (count < 0 && last_error_ == 0) last_error_ = errno;
        return heard;
      }
      heard.append(chunk, static_cast<std::size_t>(count));
    }
  }
  bool hears(std::size_t count, Duration limit = 10s) {  // so many bytes, or more, not taken
    std::string heard(count, '\0');
    const Time until = steady_now() + limit;
    while (steady_now() < until) {
      pollfd ready{descriptor_, POLLIN, 0};
      if (::poll(&ready, 1, 10) < 0) return false;
      if (::recv(descriptor_, heard.data(), count, MSG_PEEK | MSG_DONTWAIT) ==
          static_cast<ssize_t>(count)) {
        return true;
      }
    }
    return false;
  }
  int last_error() const { return last_error_; }  // of say() and hear_out(); 0: an orderly end
  bool is_cut(Duration limit = 10s) { return hear_out(limit).has_value(); }
  bool is_cut_unread(Duration limit = 10s) {  // the same, without taking a byte
    const auto limit_ms = std::chrono::duration_cast<std::chrono::milliseconds>(limit);
    pollfd ended{descriptor_, POLLRDHUP, 0};
    return ::poll(&ended, 1, static_cast<int>(limit_ms.count())) == 1;
  }

 private:
  int descriptor_;
  int last_error_ = 0;
};

// Listens, and does nothing else unless told.
class RawListener final {
 public:
  RawListener() : descriptor_(RawPeer::make_socket()) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    ::bind(descriptor_, reinterpret_cast<sockaddr*>(&address), length);
    ::listen(descriptor_, 16);
    ::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address), &length);
    address_ = {"127.0.0.1", ntohs(address.sin_port)};
  }
  ~RawListener() { ::close(descriptor_); }
  RawListener(const RawListener&) = delete;
  RawListener& operator=(const RawListener&) = delete;

  const Endpoint& address() const { return address_; }
  RawPeer accept() {  // one that is closed already where nobody calls for ten seconds
    pollfd ready{descriptor_, POLLIN, 0};
    if (::poll(&ready, 1, 10'000) <= 0) return RawPeer(-1);
    return RawPeer(::accept(descriptor_, nullptr, nullptr));
  }

 private:
  int descriptor_;
  Endpoint address_;
};

}  // namespace wide::net
