#include "wide/net/wakeful_core.h"

#include <pthread.h>
#include <sched.h>

#include <system_error>

#include "wide/net/signal_block.h"
#include "wide/net/steady.h"

namespace wide::net {

namespace {

constexpr Time kOver = Time::min();

// For this thread, and for good. At any other priority it would take what others want.
bool give_way_to_all() {
  const sched_param none{};
  return pthread_setschedparam(pthread_self(), SCHED_IDLE, &none) == 0;
}

}  // namespace

WakefulCore::~WakefulCore() {
  if (!keeper_.joinable()) return;
  until_ = kOver;
  until_.notify_one();
  keeper_.join();
}

void WakefulCore::keep(int core, Time until) {
  if (core < 0 || core >= CPU_SETSIZE) return;
  until_ = until;
  if (!keeper_.joinable() && !start()) return;
  if (core != core_) follow(core);
  until_.notify_one();
}

bool WakefulCore::start() {
  const SignalBlock signals_stay_here;
  try {
    keeper_ = std::thread(&WakefulCore::stay, this);
    return true;
  } catch (const std::system_error&) {
    return false;  // there is no thread to be had now
  }
}

void WakefulCore::follow(int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(core, &cores);
  pthread_setaffinity_np(keeper_.native_handle(), sizeof cores, &cores);
  core_ = core;
}

// Reading the clock is what it does instead of nothing.
void WakefulCore::stay() {
  if (!give_way_to_all()) return;
  for (Time until = until_; until != kOver; until = until_) {
    awake_ = steady_now() < until;
    if (!awake_) until_.wait(until);
  }
}

}  // namespace wide::net
