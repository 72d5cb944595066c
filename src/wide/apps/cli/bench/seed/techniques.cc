#include "wide/apps/cli/bench/seed/techniques.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "wide/apps/cli/bench/seed/seed_job.h"
#include "wide/apps/cli/bench/turns.h"
#include "wide/apps/cli/text_table.h"
#include "wide/base/log.h"

namespace wide::apps::bench {

namespace {

constexpr std::size_t kRounds = 7;
constexpr std::string_view kUsual = "as it is: silent logs";

// What is written into the job, or said on the command line.
struct Technique {
  std::string name;
  std::string more{};
  std::string log = "silent";
  std::optional<double> cost_most{};  // of a step's time
};

std::string buffers(int kib) { return fmt::format("[net]\nbuffer_bytes = {}\n", kib * 1024); }

std::string coded(const char* lossless, int bytes_least) {
  return fmt::format("[codec]\nlossless = \"{}\"\n[net]\ncode_bytes_least = {}\n", lossless,
                     bytes_least);
}

std::vector<Technique> techniques() {
  std::vector<Technique> all = {{std::string(kUsual)},
                                {"logs: normal", "", "normal", 0.01},
                                {"logs: verbose", "", "verbose", 0.10}};
  for (const int kib : {512, 1024, 4096, 8192, 16384}) {
    all.push_back({fmt::format("socket buffers of {} KiB", kib), buffers(kib)});
  }
  all.push_back({"no TCP_NODELAY", "[net]\nno_delay = false\n"});
  all.push_back({"TCP_QUICKACK", "[net]\nquick_ack = true\n"});
  all.push_back({"no gathered write", "[net]\ngather = false\n"});
  all.push_back({"no compression", "[codec]\nlossless = \"none\"\n"});
  all.push_back({"zlib, always", coded("zlib", 1)});
  all.push_back({"lz4, always", coded("lz4", 1)});
  all.push_back({"lz4 above 512 KiB", coded("lz4", 512 << 10)});
  all.push_back({"lz4 above 1 MiB", coded("lz4", 1 << 20)});
  return all;
}

// What came of one run.
struct Found {
  double batches_per_second = 0;
  double log_share = 0;  // of the time of training, that the pool spent on lines of its log
};

Found run_once(const Technique& technique, double seconds, const Environment& environment) {
  SeedJob job;
  job.more = technique.more;
  const auto summary = run_seed(job, {"--nodes", "10", "--seconds", fmt::format("{:.3f}", seconds)},
                                environment, technique.log);
  return {
      .batches_per_second = summary.at("batches_per_second").get<double>(),
      .log_share = summary.at("log_seconds").get<double>() / summary.at("seconds").get<double>()};
}

// Of each technique, round by round.
using Rounds = std::vector<std::vector<Found>>;

Rounds measure_in_turns(const std::vector<Technique>& all, double seconds,
                        const Environment& environment) {
  Rounds rounds(all.size());
  for (std::size_t round = 0; round < kRounds; ++round) {
    // Each round begins with another one: whoever runs first finds the machine colder.
    for (std::size_t turn = 0; turn < all.size(); ++turn) {
      const std::size_t i = (turn + round * 5) % all.size();
      rounds[i].push_back(run_once(all[i], seconds, environment));
    }
    log::info("techniques measured round={} of {}", round + 1, kRounds);
  }
  return rounds;
}

// One figure for each pair of runs of the same round.
template <typename Compare>
std::vector<double> compared(const std::vector<Found>& with, const std::vector<Found>& without,
                             Compare compare) {
  std::vector<double> figures;
  for (std::size_t i = 0; i < with.size(); ++i) figures.push_back(compare(with[i], without[i]));
  return figures;
}

// Half of all pairs lie so near the middle.
double noise_of(const std::vector<double>& figures) {
  std::vector<double> distances;
  for (const double figure : figures) distances.push_back(std::abs(figure - median(figures)));
  return median(std::move(distances));
}

Row speed_row(const Technique& technique, const std::vector<Found>& with,
              const std::vector<Found>& without) {
  const auto ratios = compared(with, without, [](const Found& one, const Found& other) {
    return one.batches_per_second / other.batches_per_second;
  });
  std::vector<double> speeds;
  for (const Found& found : with) speeds.push_back(found.batches_per_second);
  Row row;
  row.name = technique.name;
  row.measured = median(std::move(speeds));
  row.unit = "batches/s";
  row.against = kUsual;
  row.ratio = median(ratios);
  row.more["technique"] = technique.name;
  row.more["noise"] = noise_of(ratios);
  return row;
}

// Logs are written by the pool's own thread, and every step waits for it. So its time on them is
// what they cost, and is known much better than the difference between two short runs.
Row cost_row(const Technique& technique, const std::vector<Found>& found) {
  std::vector<double> shares;
  for (const Found& one : found) shares.push_back(one.log_share);
  Row row;
  row.name = fmt::format("cost of {}", technique.name);
  row.measured = 100 * median(shares);
  row.unit = "% of the time";
  row.against = "training";
  row.ratio = median(shares);
  row.goal = Goal{*technique.cost_most, 0, Wanted::kAtMost};
  row.more["noise"] = noise_of(shares);
  return row;
}

std::string table_of(const std::vector<Row>& rows) {
  TextTable table({"technique", "batches/s", "change", "noise"}, TextTable::Side::kLeft);
  for (const Row& row : rows) {
    table.add_row({row.name, fmt::format("{:.0f}", row.measured),
                   fmt::format("{:+.1f} %", 100 * (*row.ratio - 1)),
                   fmt::format("{:.1f} %", 100 * row.more["noise"].get<double>())});
  }
  return table.text();
}

}  // namespace

Techniques measure_techniques(double seconds, const Environment& environment) {
  const auto all = techniques();
  const Rounds rounds = measure_in_turns(all, seconds, environment);
  Techniques found;
  for (std::size_t i = 0; i < all.size(); ++i) {
    found.rows.push_back(speed_row(all[i], rounds[i], rounds[0]));
  }
  found.table = table_of(found.rows);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].cost_most) found.rows.push_back(cost_row(all[i], rounds[i]));
  }
  return found;
}

}  // namespace wide::apps::bench
