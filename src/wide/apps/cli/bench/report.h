#pragma once
// What a bench found: rows of one shape, the same facts for scripts and for people.
//
//   measured   in `unit`
//   ratio      measured ÷ what it is measured `against`, taken in turns in this very run
//   target     what the ratio ought to be, at least or at most; `limit`: what it could be at best
//   met        whether it is

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace wide::apps::bench {

enum class Wanted { kAtLeast, kAtMost };

struct Goal {
  double target = 0;
  std::optional<double> limit{};
  Wanted wanted = Wanted::kAtLeast;
};

struct Row {
  std::string name;  // "cnn/late/gradient/planes/encode"
  double measured = 0;
  std::string unit;
  std::string against;  // empty: nothing
  std::optional<double> ratio{};
  std::optional<Goal> goal{};
  nlohmann::ordered_json more = nlohmann::ordered_json::object();  // of this bench alone

  std::optional<bool> met() const;  // none without a goal, or without a ratio
  // Better than ought to be possible: what it is measured against does not reach here what the
  // limit presumes of it, and the ratio flatters.
  bool is_beyond_limit() const;
};

struct Report {
  std::string bench;
  double seconds = 0;              // that it took
  double cpu_seconds = 0;          // of this process in that time
  std::vector<std::string> notes;  // what a reader of the rows must know
  std::vector<Row> rows;
  std::string tables;  // for people; rows with goals are not in them
};

nlohmann::ordered_json report_json(const Report& report, const std::string& machine);
std::string report_text(const Report& report, const std::string& machine);

std::string machine_words();  // "2 cores, Some Processor @ 2.4GHz"

}  // namespace wide::apps::bench
