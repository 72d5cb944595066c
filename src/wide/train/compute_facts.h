#pragma once
// Which libraries compute here. Their names and versions are part of a node's numerics class,
// because another version or another instruction set may round differently.

#include <string>

namespace wide::train {

struct ComputeFacts {
  std::string torch_version;       // "1.13.0"
  std::string cpu_capability;      // which of ATen's kernels run: "AVX2"
  std::string onednn_version;      // "2.6.3"; empty: built without
  std::string blas;                // "OpenBLAS 0.3.21 SkylakeX", or the file's name where unknown
  std::string blas_path;           // the file that holds sgemm, links followed
  bool blas_is_reference = false;  // the slow one that Debian falls back to
  int threads = 0;                 // that one slot computes with
};

ComputeFacts compute_facts();

// "libtorch 1.13.0 AVX2, OpenBLAS 0.3.21 SkylakeX, oneDNN 2.6.3": no paths, so that the same
// libraries in other places read the same.
std::string describe(const ComputeFacts& facts);

}  // namespace wide::train
