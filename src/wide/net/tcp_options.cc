#include "wide/net/tcp_options.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace wide::net {

namespace {

constexpr int kProbeAfterSeconds = 1;
constexpr int kProbeEverySeconds = 1;
constexpr int kProbeCount = 3;
constexpr int kUserTimeoutMs = 3000;

void set(int descriptor, int level, int option, int value) {
  (void)::setsockopt(descriptor, level, option, &value, sizeof(value));
}

}  // namespace

void set_buffer_sizes(int descriptor, const engine::Net& net) {
  if (net.buffer_bytes == 0) return;
  set(descriptor, SOL_SOCKET, SO_SNDBUF, static_cast<int>(net.buffer_bytes));
  set(descriptor, SOL_SOCKET, SO_RCVBUF, static_cast<int>(net.buffer_bytes));
}

void renew_quick_ack(int descriptor) { set(descriptor, IPPROTO_TCP, TCP_QUICKACK, 1); }

void set_tcp_options(int descriptor, const engine::Net& net) {
  set(descriptor, IPPROTO_TCP, TCP_NODELAY, net.no_delay ? 1 : 0);
  set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, kProbeAfterSeconds);
  set(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, kProbeEverySeconds);
  set(descriptor, IPPROTO_TCP, TCP_KEEPCNT, kProbeCount);
  set(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, kUserTimeoutMs);
  set_buffer_sizes(descriptor, net);
  if (net.quick_ack) renew_quick_ack(descriptor);
}

}  // namespace wide::net
