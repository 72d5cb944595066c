#pragma once
// How every TCP connection of ours is set: answers leave at once (no-delay), and a peer that
// vanished without a word is noticed within seconds. Linux alone would wait two hours.
//
//   nothing to send       keepalive: first probe after 1 s, one per second, given up after 3
//   unacknowledged bytes  user timeout: given up after 3 s without progress
//
// The kernel sizes its own buffers, and acknowledges when it likes, unless the job says otherwise.

#include "wide/engine/job.h"

namespace wide::net {

// Failures are ignored: a socket that is already dead will say so when it is used.
void set_tcp_options(int descriptor, const engine::Net& net);

// Buffer sizes alone: on a listener they must be set before it listens, to count.
void set_buffer_sizes(int descriptor, const engine::Net& net);

// Quick-ack wears off by itself: called after every read where the job asked for it.
void renew_quick_ack(int descriptor);

}  // namespace wide::net
