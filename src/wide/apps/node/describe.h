#pragma once
// wide-node describe FILE: a TorchScript file's layout and genesis, for pools, which have no
// libtorch, and for people who wonder.

#include <string>
#include <vector>

#include "wide/base/digest.h"

namespace wide::apps {

int run_describe(const std::vector<std::string>& arguments);

// Does the model draw random numbers? Looked at in a process of its own: whoever asks wants to fork
// later, and libtorch must not have started threads by then. A file with another hash than
// `expected` is not opened (zero: any). Throws Failure.
bool draws_numbers(const std::string& file, const Digest& expected);

}  // namespace wide::apps
