#pragma once
// The same work done by several, in turns, round after round; every round of one meets the same
// neighbours on the machine as that of the others.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "wide/apps/cli/bench/peers/outcome.h"
#include "wide/apps/cli/bench/report.h"
#include "wide/apps/cli/text_table.h"

namespace wide::apps::bench {

class Contest final {
 public:
  using Work = std::function<Outcome()>;
  enum class Side { kOurs, kTheirs };

  // `where`: "loopback", "100 Mbit/s". A step is one batch of so many samples for each rank.
  Contest(std::string where, std::uint32_t ranks, std::uint32_t batch)
      : where_(std::move(where)), ranks_(ranks), batch_(batch) {}

  // Of ours the name says how it differs from what people mean ("int8"): the first has none.
  void add(Side side, std::string name, Work work);

  // Everyone once. Who fails is noted and takes no further part.
  void round(std::vector<std::string>& notes);

  std::string title() const;
  // One for each of ours beside each of theirs: batches per second, and all else in `more`.
  std::vector<Row> rows() const;
  void add_lines(TextTable& table) const;
  std::optional<double> loss() const;  // that all reach

  static std::vector<std::string> table_head();

 private:
  struct Contestant {
    Side side;
    std::string name;
    Work work;
    std::vector<std::optional<Outcome>> rounds{};
    bool out = false;

    std::vector<Outcome> done() const;
  };

  Row row(const Contestant& ours, const Contestant* theirs) const;
  std::vector<std::string> line(const Contestant& one) const;
  double batches_per_second(const Outcome& outcome) const {
    return outcome.steps_per_second * ranks_;
  }
  const Contestant* first_of_ours() const;
  static std::optional<double> ratio(const Contestant& ours, const Contestant& theirs);

  std::string where_;
  std::uint32_t ranks_;
  std::uint32_t batch_;
  std::vector<Contestant> contestants_;
};

}  // namespace wide::apps::bench
