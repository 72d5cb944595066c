#pragma once
// What a program asks of the machine it runs on.

#include <cstdint>
#include <filesystem>
#include <string>

namespace wide::apps {

std::uint32_t cores_available();       // that this process may use: its affinity, not the box
std::string host_name();               // "node" where it has none
std::filesystem::path this_program();  // where the running executable lies
std::uint32_t thread_count();          // of this process, now

}  // namespace wide::apps
