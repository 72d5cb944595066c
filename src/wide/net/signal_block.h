#pragma once
// While one of these lives, signals stay away from this thread and from every thread it starts,
// which inherit its mask. Signals belong to the I/O thread.

#include <csignal>

namespace wide::net {

class SignalBlock final {
 public:
  SignalBlock() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalBlock() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalBlock(const SignalBlock&) = delete;
  SignalBlock& operator=(const SignalBlock&) = delete;

 private:
  sigset_t before_;
};

}  // namespace wide::net
