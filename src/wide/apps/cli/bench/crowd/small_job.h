#pragma once
// The job of benches that are about the pool and not about computing: 430 parameters, made-up
// samples, no end within a bench's life.

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace wide::apps::bench {

inline std::string small_job(std::uint32_t units_per_step) {
  return fmt::format(
      "[job]\nname = \"small\"\n[model]\nkind = \"mlp\"\nlayers = [10, 20, 10]\n"
      "[data]\nkind = \"synthetic\"\nsamples = 4096\nfeatures = 10\nclasses = 10\n"
      "[train]\nbatch = 32\nunits_per_step = {}\nsteps = 100000000\noptimizer = \"adam\"\n"
      "lr = 0.001\nexact = \"bits\"\n",
      units_per_step);
}

}  // namespace wide::apps::bench
