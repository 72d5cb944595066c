#pragma once
// PyTorch's DistributedDataParallel over Gloo, in Debian's own Python, by a script that is part of
// this program (ddp_peer.py says how it trains).

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "wide/apps/cli/bench/line_program.h"
#include "wide/apps/cli/bench/peers/outcome.h"
#include "wide/apps/cli/bench/peers/shared_task.h"

namespace wide::apps::bench {

struct DdpSetting {
  std::uint32_t ranks = 2;
  std::string hook = "none";  // none, fp16, powersgd
  bool pinned = false;        // rank r stays on core r modulo the cores
  double seconds = 1;
  std::string device = "lo";
  std::vector<std::string> namespaces{};  // one for each rank; none: all of them here
};

class Ddp final {
 public:
  // Failure where Python has no torch.
  Ddp(const ScratchFolder& scratch, const Environment& environment);

  const std::string& torch_version() const { return torch_version_; }
  Outcome train(const SharedTask& task, const DdpSetting& setting);  // Failure: what went wrong

 private:
  std::unique_ptr<LineProgram> python_;
  std::string torch_version_;
};

}  // namespace wide::apps::bench
