#pragma once
// A real `wide pool` in a process of its own, with a run folder and a ledger that are gone
// afterwards: what people run, as they run it.

#include <string>
#include <vector>

#include "wide/apps/cli/bench/line_program.h"
#include "wide/apps/cli/bench/whole_run.h"
#include "wide/apps/edge/environment.h"

namespace wide::apps::bench {

class PoolProcess final {
 public:
  // Listens when this returns. Failure where it does not come to that.
  PoolProcess(const std::string& job_text, const std::vector<std::string>& flags,
              const Environment& environment);

  std::uint16_t port() const { return port_; }
  const Child& process() const { return program_.process(); }

 private:
  ScratchFolder folder_;
  LineProgram program_;
  std::uint16_t port_;
};

}  // namespace wide::apps::bench
