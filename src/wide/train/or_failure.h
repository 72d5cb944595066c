#pragma once
// libtorch throws its own errors; whoever asked for a gradient knows ours.

#include <c10/util/Exception.h>

#include <exception>
#include <string>

#include "wide/base/error.h"
#include "wide/train/compute_thread.h"

namespace wide::train {

// What `compute` returns, on a thread that is prepared for it; Failure(kComputeFailed) where it
// throws anything but a Failure of its own.
template <class Compute>
auto or_failure(Compute compute) {
  try {
    prepare_compute_thread();
    return compute();
  } catch (const Failure&) {
    throw;
  } catch (const c10::Error& error) {
    throw Failure(Errc::kComputeFailed, error.what_without_backtrace());
  } catch (const std::exception& error) {
    throw Failure(Errc::kComputeFailed, error.what());
  }
}

}  // namespace wide::train
