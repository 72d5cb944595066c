#pragma once
// Numbers as people read them. Pure.

#include <cstdint>
#include <string>
#include <string_view>

namespace wide::apps {

std::string grouped(std::uint64_t count);      // 60,000
std::string short_rate(double per_second);     // 812, 12.3k, 1.20M
std::string short_bytes(double bytes);         // 812 B, 12.3 kB, 1.2 MB, 3.4 GB
std::string clock_span(double seconds);        // 0:42, 12:05, 1:02:03
std::string printable(std::string_view text);  // control characters become '?': names of
                                               // strangers must not steer the terminal
std::size_t width(std::string_view text);      // in characters of UTF-8

}  // namespace wide::apps
