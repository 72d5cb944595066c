#include "wide/apps/cli/bench/peers/run_meter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "wide/apps/cli/bench/peers/network_count.h"
#include "wide/apps/cli/process_facts.h"

namespace wide::apps::bench {

namespace {

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
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
      sum += static_cast<double>(memory_of(process).proportional_bytes);
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
