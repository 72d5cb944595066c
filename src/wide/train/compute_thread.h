#pragma once
// One slot is one thread: libtorch, OpenMP and OpenBLAS must not start more behind its back. They
// would fight the other slots for cores, and a sum split among threads has other bits.

namespace wide::train {

// Cheap after the first call on a thread; call before computing on it.
void prepare_compute_thread();

}  // namespace wide::train
