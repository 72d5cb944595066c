#pragma once
// What a network device has moved, as the kernel counts it: every byte with all its headers,
// whoever sent it.

#include <cstdint>
#include <optional>
#include <string_view>

namespace wide::apps::bench {

struct NetworkCount {
  std::uint64_t received_bytes = 0;
  std::uint64_t sent_bytes = 0;
};

// The line of this device in the text of /proc/net/dev; none where there is no such line.
std::optional<NetworkCount> count_of(std::string_view net_dev, std::string_view device);

}  // namespace wide::apps::bench
