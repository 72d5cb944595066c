#include "wide/apps/cli/bench/peers/network_count.h"

#include <sstream>
#include <string>

namespace wide::apps::bench {

std::optional<NetworkCount> count_of(std::string_view net_dev, std::string_view device) {
  std::istringstream lines{std::string(net_dev)};
  for (std::string line; std::getline(lines, line);) {
    const auto colon = line.find(':');
    const auto begin = line.find_first_not_of(' ');
    if (colon == std::string::npos || line.substr(begin, colon - begin) != device) continue;
    std::istringstream numbers(line.substr(colon + 1));
    NetworkCount count;
    numbers >> count.received_bytes;
    for (std::uint64_t skipped = 0, i = 0; i < 7; ++i) numbers >> skipped;
    numbers >> count.sent_bytes;
    if (numbers) return count;
  }
  return std::nullopt;
}

}  // namespace wide::apps::bench
