#pragma once
// What `wide-node local` and `wide-node join` are told.

#include <cstdint>
#include <optional>
#include <string>

#include "wide/apps/edge/command_line.h"
#include "wide/net/node_client.h"

namespace wide::apps {

struct NodeFlags {
  std::string connect;
  std::optional<std::uint64_t> slots;
  std::string name;
  std::string samples_folder;
  std::string model_file;
  std::string model_sha256;  // what the pool says that it must hash to
  std::string job_file;      // the pool's own, with paths that hold on this machine
  std::optional<double> cache_gib;
  std::string log = "normal";
  bool json = false;  // errors as JSON, too

  void declare(CommandLine& line);
  Digest expected_model() const { return parse_digest(model_sha256).value_or(Digest{}); }
};

// Options for the node of this name. Failure for an address that cannot be read.
net::NodeClientOptions client_options(const NodeFlags& flags, const std::string& name,
                                      const Environment& environment);

// What computes here: libtorch, and the owner's own TorchScript file where the job wants one.
net::Tools torch_tools(const std::string& model_file);

// Joins, works until the pool's Bye or a signal, and says how it ended.
int run_node(const net::NodeClientOptions& options, const std::string& model_file, bool json);

}  // namespace wide::apps
