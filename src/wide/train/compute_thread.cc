#include "wide/train/compute_thread.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>

#include <mutex>

namespace wide::train {

namespace {

// OpenBLAS built for pthreads has a thread count of its own, which ATen does not touch.
void limit_openblas() {
  using SetThreads = void (*)(int);
  void* symbol = dlsym(RTLD_DEFAULT, "openblas_set_num_threads");
  if (symbol != nullptr) reinterpret_cast<SetThreads>(symbol)(1);
}

void limit_process() {
  at::set_num_interop_threads(1);
  limit_openblas();
}

}  // namespace

void prepare_compute_thread() {
  static std::once_flag process_limited;
  static thread_local bool thread_limited = false;
  if (thread_limited) return;

  std::call_once(process_limited, limit_process);
  at::set_num_threads(1);
  thread_limited = true;
}

}  // namespace wide::train
