#pragma once
// What a program asks of the machine it runs on.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace wide::apps {

std::uint32_t cores_available();       // that this process may use: its affinity, not the box
std::string host_name();               // "node" where it has none
std::filesystem::path this_program();  // where the running executable lies
std::uint32_t thread_count();          // of this process, now
// To as many open files as this process may have; that many.
std::size_t raise_descriptor_limit();

}  // namespace wide::apps
