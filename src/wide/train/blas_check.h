#pragma once
// Is the BLAS behind libtorch a fast one? Debian's libtorch accepts the reference BLAS, which is 10
// to 30 times slower than OpenBLAS, and nothing else would tell.

#include <string>

namespace wide::train {

struct BlasReport {
  std::string library;           // "OpenBLAS 0.3.21 SkylakeX (/usr/lib/…/libblas.so.3)"
  double gflops = 0;             // a 512×512×512 float product through libtorch, one thread
  double gflops_plain_loop = 0;  // the same product by a loop compiled here
  bool slow = false;             // the reference BLAS, or less than 4 times the loop
};

// Takes a few tenths of a second. Best of several rounds, so that a busy machine is not a slow
// BLAS.
BlasReport check_blas();

}  // namespace wide::train
