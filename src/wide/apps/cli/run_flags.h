#pragma once
// The flags that demo, train and pool share, and what they make of a job.

#include <cstdint>
#include <optional>
#include <string>

#include "wide/apps/cli/report_flags.h"
#include "wide/apps/edge/job_file.h"
#include "wide/engine/job.h"
#include "wide/net/endpoint.h"

namespace wide::apps {

struct RunFlags {
  std::string out;
  std::string samples_folder;
  std::string listen;
  bool insecure = false;
  bool resume = false;
  bool efficiency = false;
  std::optional<std::uint64_t> lease_blocks;
  std::optional<double> checkpoint_seconds;
  std::optional<std::uint64_t> nodes;
  std::optional<std::uint64_t> slots;
  std::optional<std::uint64_t> steps;
  std::optional<double> epochs;
  std::optional<double> seconds;
  std::optional<std::uint64_t> seed;
  ReportFlags report;

  void declare_run(CommandLine& line, const Environment& environment);
  void declare_length(CommandLine& line);  // --steps, --epochs, --seconds, --seed
  void declare_local_nodes(CommandLine& line, const Environment& environment);
  void declare_listen(CommandLine& line, const Environment& environment);
};

// The job as the flags change it. Throws Failure: kUsage where flags contradict each other, and
// whatever validate() finds.
engine::Job with_overrides(engine::Job job, const RunFlags& flags);

// Where to listen. kNeedsInsecure for an address that others can reach, unless told to.
net::Endpoint listen_endpoint(const RunFlags& flags, const net::Endpoint& otherwise);

// A flag's value where it is given, within its bounds, else `otherwise`. kUsage names the flag.
std::uint32_t bounded(const std::string& flag, const std::optional<std::uint64_t>& value,
                      std::uint32_t otherwise, std::uint32_t most);

}  // namespace wide::apps
