#include "wide/net/lookout.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "wide/base/check.h"
#include "wide/net/steady.h"

namespace wide::net {

namespace {

// Whoever asks again and again lets timers wait no longer than this.
constexpr int kLooksPerTurn = 16;
constexpr Duration kTurnSpan = std::chrono::milliseconds(1);
// While so many were told, others may have become ready; behind fewer, a look is mostly in vain.
constexpr int kCrowd = 4;

int new_set() {
  const int set = ::epoll_create1(EPOLL_CLOEXEC);
  if (set < 0) throw Failure(Errc::kMachine, std::string("epoll_create1: ") + std::strerror(errno));
  return set;
}

}  // namespace

Lookout::Lookout(asio::io_context& io, std::function<void()> after)
    : set_(io, new_set()), after_(std::move(after)) {}

Result<void> Lookout::watch(int socket, Watched& who) {
  epoll_event event{.events = EPOLLIN, .data = {.ptr = &who}};
  if (::epoll_ctl(set_.native_handle(), EPOLL_CTL_ADD, socket, &event) != 0) {
    return fail(Errc::kMachine, std::string("epoll_ctl: ") + std::strerror(errno));
  }
  ++watched_count_;
  wait();
  return {};
}

void Lookout::watch_for(For what, int socket, Watched& who) {
  const std::uint32_t events = what == For::kBytes ? EPOLLIN : EPOLLIN | EPOLLOUT;
  epoll_event event{.events = events, .data = {.ptr = &who}};
  WIDE_CHECK(::epoll_ctl(set_.native_handle(), EPOLL_CTL_MOD, socket, &event) == 0);
}

// With nobody to watch there is nothing to wait for: run() may end.
void Lookout::forget(int socket) {
  WIDE_CHECK(::epoll_ctl(set_.native_handle(), EPOLL_CTL_DEL, socket, nullptr) == 0);
  if (--watched_count_ == 0) set_.cancel();
}

void Lookout::wait() {
  if (std::exchange(waiting_, true)) return;
  set_.async_wait(asio::posix::stream_descriptor::wait_read, [this](const std::error_code& failed) {
    waiting_ = false;
    if (!failed) look();
    if (watched_count_ > 0) wait();
  });
}

void Lookout::look() {
  const Time began = steady_now();
  for (int turn = 0; turn < kLooksPerTurn && !halted_; ++turn) {
    const int count = ::epoll_wait(set_.native_handle(), ready_.data(), ready_.size(), 0);
    if (count <= 0) return;
    tell_those_ready(count);
    if (after_) after_();
    if (count < kCrowd || steady_now() - began > kTurnSpan) return;
  }
}

void Lookout::tell_those_ready(int count) {
  for (int i = 0; i < count && !halted_; ++i) {
    auto& who = *static_cast<Watched*>(ready_[i].data.ptr);
    if ((ready_[i].events & EPOLLOUT) != 0) who.writable();
    if ((ready_[i].events & ~EPOLLOUT) != 0) who.readable();
  }
}

}  // namespace wide::net
