#pragma once
// The report that the system of 2024 printed, of a run of ours, with its figures beside.

#include <string>

#include <nlohmann/json.hpp>

namespace wide::apps::bench {

std::string report_of_2024(const nlohmann::json& summary);

}  // namespace wide::apps::bench
