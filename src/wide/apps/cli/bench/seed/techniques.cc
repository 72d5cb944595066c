#include "wide/apps/cli/bench/seed/techniques.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "wide/apps/cli/bench/seed/seed_job.h"
#include "wide/apps/cli/bench/turns.h"
#include "wide/apps/cli/text_table.h"
#include "wide/base/log.h"

namespace wide::apps::bench {

namespace {

constexpr std::string_view kUsual = "as it is: silent logs";

// What is written into the job, or said on the command line.
struct Technique {
  std::string name;
  std::string more{};
  std::string log = "silent";
  std::optional<Goal> goal{};
};

std::string buffers(int kib) { return fmt::format("[net]\nbuffer_bytes = {}\n", kib * 1024); }

std::string coded(const char* lossless, int bytes_least) {
  return fmt::format("[codec]\nlossless = \"{}\"\n[net]\ncode_bytes_least = {}\n", lossless,
                     bytes_least);
}

std::vector<Technique> techniques() {
  const Goal normal{0.99, 1.0};
  const Goal verbose{0.90, 1.0};
  std::vector<Technique> all = {{std::string(kUsual)},
                                {"logs: normal", "", "normal", normal},
                                {"logs: verbose", "", "verbose", verbose}};
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

struct Subject {
  std::string name;
  SeedJob::Kind kind;
  int rounds;  // the larger one is there to compare with; its runs are longer
};

const Subject kSubjects[] = {{"430 parameters", SeedJob::Kind::kTiny, 7},
                             {"2 million", SeedJob::Kind::kMiddle, 2}};

using Speeds = std::vector<double>;

double run_once(const Subject& subject, const Technique& technique, double seconds,
                const Environment& environment) {
  SeedJob job;
  job.kind = subject.kind;
  job.more = technique.more;
  const auto summary = run_seed(job, {"--nodes", "10", "--seconds", fmt::format("{:.3f}", seconds)},
                                environment, technique.log);
  return summary.at("batches_per_second").get<double>();
}

Row row_of(const Subject& subject, const Technique& technique, const Speeds& speeds,
           const Speeds& usual) {
  Row row;
  row.name = fmt::format("{}: {}", subject.name, technique.name);
  row.measured = median(speeds);
  row.unit = "batches/s";
  row.against = kUsual;
  row.ratio = row.measured / median(usual);
  if (subject.kind == SeedJob::Kind::kTiny) row.goal = technique.goal;
  row.more["technique"] = technique.name;
  row.more["subject"] = subject.name;
  row.more["speeds"] = speeds;
  return row;
}

std::string table_of(const std::vector<Technique>& all, const std::vector<Row>& rows) {
  TextTable table({"technique", "430 parameters", "", "2 million parameters", ""},
                  TextTable::Side::kLeft);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Row& tiny = rows[i];
    const Row& middle = rows[all.size() + i];
    table.add_row({all[i].name, fmt::format("{:.0f}/s", tiny.measured),
                   fmt::format("{:+.1f} %", 100 * (*tiny.ratio - 1)),
                   fmt::format("{:.1f}/s", middle.measured),
                   fmt::format("{:+.1f} %", 100 * (*middle.ratio - 1))});
  }
  return table.text();
}

}  // namespace

Techniques measure_techniques(double seconds, const Environment& environment) {
  const auto all = techniques();
  Techniques found;
  for (const auto& subject : kSubjects) {
    std::vector<Speeds> speeds(all.size());
    for (int round = 0; round < subject.rounds; ++round) {
      // Each round begins with another one: whoever runs first finds the machine colder.
      for (std::size_t turn = 0; turn < all.size(); ++turn) {
        const std::size_t i = (turn + static_cast<std::size_t>(round) * 5) % all.size();
        speeds[i].push_back(run_once(subject, all[i], seconds, environment));
      }
      log::info("techniques measured subject={} round={} of {}", subject.name, round + 1,
                subject.rounds);
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      found.rows.push_back(row_of(subject, all[i], speeds[i], speeds[0]));
    }
  }
  found.table = table_of(all, found.rows);
  return found;
}

}  // namespace wide::apps::bench
