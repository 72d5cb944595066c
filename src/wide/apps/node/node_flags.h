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
  std::string log = "normal";
  bool json = false;  // errors as JSON, too

  void declare(CommandLine& line);
};

// Options for the node of this name. Failure for an address that cannot be read.
net::NodeClientOptions client_options(const NodeFlags& flags, const std::string& name,
                                      const Environment& environment);

// Joins, works until the pool's Bye or a signal, and says how it ended.
int run_node(const net::NodeClientOptions& options, bool json);

}  // namespace wide::apps
