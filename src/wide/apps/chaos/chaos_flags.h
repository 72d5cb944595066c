#pragma once
// The flags of `wide-chaos`, and what it says at the end.

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "wide/apps/edge/command_line.h"
#include "wide/net/chaos_proxy.h"

namespace wide::apps {

struct ChaosFlags {
  std::string listen = "127.0.0.1:0";
  std::string to;
  bool insecure = false;
  bool json = false;
  std::string log = "normal";
  std::optional<std::uint64_t> seed;
  std::optional<double> seconds;
  std::optional<double> delay_ms;
  std::optional<double> jitter_ms;
  std::optional<std::uint64_t> rate_bytes;
  std::optional<std::uint64_t> chunk_bytes;
  std::optional<double> stall_every;
  std::optional<double> stall_ms;
  std::optional<std::uint64_t> flip_every;
  std::optional<std::uint64_t> duplicate_every;
  std::optional<std::uint64_t> truncate_every;
  std::optional<std::uint64_t> half_close_every;
  std::optional<std::uint64_t> reset_every;

  void declare(CommandLine& line);
};

// Throws Failure: kUsage where flags contradict each other or an address is missing,
// kNeedsInsecure for an address that other machines can reach, unless told to.
net::ChaosProxyOptions proxy_options(const ChaosFlags& flags);

nlohmann::ordered_json counts_json(const net::ChaosCounts& counts);
std::string counts_text(const net::ChaosCounts& counts);

}  // namespace wide::apps
