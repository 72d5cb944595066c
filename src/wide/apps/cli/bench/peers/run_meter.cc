#include "wide/apps/cli/bench/peers/run_meter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "wide/apps/cli/bench/peers/network_count.h"
#include "wide/apps/cli/memory_gauge.h"

namespace wide::apps::bench {

namespace {

double in_seconds(const timespec& span) {
  return static_cast<double>(span.tv_sec) + static_cast<double>(span.tv_nsec) * 1e-9;
}

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double cpu_seconds_of(pid_t process) {
  clockid_t clock{};
  timespec span{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &span) != 0) return 0;
  return in_seconds(span);
}

}  // namespace

double RunMeter::sent_bytes() const {
  double sum = 0;
  for (const pid_t root : roots_) {
    const auto count = count_of(read_proc(fmt::format("/proc/{}/net/dev", root)), name_);
    sum += static_cast<double>(count.value_or(NetworkCount{}).sent_bytes);
    if (device_ == Device::kShared) break;
  }
  return sum;
}

void RunMeter::look() {
  Reading reading;
  reading.seconds = now_seconds();
  reading.sent_bytes = sent_bytes();
  for (const pid_t root : roots_) {
    for (const pid_t process : family(root)) {
      reading.cpu_seconds += cpu_seconds_of(process);
      ++reading.processes;
    }
  }
  readings_.push_back(reading);
}

void RunMeter::look_at_memory() {
  double sum = 0;
  for (const pid_t root : roots_) {
    for (const pid_t process : family(root)) {
      sum +=
          static_cast<double>(pss_bytes(read_proc(fmt::format("/proc/{}/smaps_rollup", process))));
    }
  }
  memory_bytes_peak_ = std::max(memory_bytes_peak_, sum);
}

const RunMeter::Reading& RunMeter::at(double seconds) const {
  return *std::ranges::min_element(
      readings_, {}, [seconds](const Reading& one) { return std::abs(one.seconds - seconds); });
}

// One that has left takes its CPU time with it.
double RunMeter::last_full_seconds() const {
  const auto most = std::ranges::max(readings_, {}, &Reading::processes).processes;
  const auto last = std::find_if(readings_.rbegin(), readings_.rend(),
                                 [most](const Reading& one) { return one.processes == most; });
  return last->seconds;
}

RunMeter::Costs RunMeter::costs(double most, double least) const {
  if (readings_.empty()) return {};
  const double end = last_full_seconds();
  const Reading& from = at(end - most);
  const Reading& to = at(end - least);
  const double span = to.seconds - from.seconds;
  if (span <= 0) return {};
  return {(to.cpu_seconds - from.cpu_seconds) / span, (to.sent_bytes - from.sent_bytes) / span};
}

}  // namespace wide::apps::bench
