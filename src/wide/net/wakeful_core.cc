#include "wide/net/wakeful_core.h"

#include <immintrin.h>
#include <pthread.h>
#include <sched.h>

#include <system_error>

#include "wide/net/signal_block.h"
#include "wide/net/steady.h"

namespace wide::net {

namespace {

constexpr Time kOver = Time::min();

// For this thread, and for good. At any other priority it would take what others want, and who has
// the lowest already would have to share with it.
bool give_way_to_all() {
  if (sched_getscheduler(0) == SCHED_IDLE) return false;
  const sched_param none{};
  return pthread_setschedparam(pthread_self(), SCHED_IDLE, &none) == 0;
}

}  // namespace

WakefulCore::~WakefulCore() {
  if (!keeper_.joinable()) return;
  follow(sched_getcpu());  // which is about to be free
  until_ = kOver;
  until_.notify_one();
  keeper_.join();
}

void WakefulCore::keep(int core, Time until) {
  if (refused_) return;
  until_ = until;
  if (!keeper_.joinable()) start();
  if (refused_) return;
  if (core != core_) follow(core);
  until_.notify_one();
}

void WakefulCore::start() {
  const SignalBlock signals_stay_here;
  try {
    keeper_ = std::thread(&WakefulCore::stay, this);
  } catch (const std::system_error&) {
    refused_ = true;  // there is no thread to be had
  }
}

void WakefulCore::follow(int core) {
  if (core < 0 || core >= CPU_SETSIZE) return;
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(core, &cores);
  pthread_setaffinity_np(keeper_.native_handle(), sizeof cores, &cores);
  core_ = core;
}

// It lives as long as the object even where it is not wanted: the id of a thread that has ended may
// mean another one.
void WakefulCore::stay() {
  refused_ = !give_way_to_all();
  for (Time until = until_; until != kOver; until = until_) {
    awake_ = !refused_ && steady_now() < until;
    if (!awake_) until_.wait(until);
    _mm_pause();
  }
}

}  // namespace wide::net
