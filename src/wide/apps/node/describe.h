#pragma once
// wide-node describe FILE: a TorchScript file's layout and genesis, for pools, which have no
// libtorch, and for people who wonder.

#include <string>
#include <vector>

namespace wide::apps {

int run_describe(const std::vector<std::string>& arguments);

// Does the model draw random numbers? Looked at in a process of its own: whoever asks wants to fork
// later, and libtorch must not have started threads by then. Throws Failure.
bool draws_numbers(const std::string& file);

}  // namespace wide::apps
