#pragma once
// Whoever makes things go wrong: every now and then one fault of the plan's mix, for as long as the
// plan says; then everything is mended, and nothing goes wrong any more.

#include <memory>
#include <vector>

#include "wide/sim/sim_node.h"
#include "wide/sim/sim_pool.h"

namespace wide::sim {

class Nemesis final {
 public:
  Nemesis(Stage& stage, SimNet& net, SimDisk& disk, SimPool& pool,
          std::vector<std::unique_ptr<SimNode>>& nodes, const SimPlan& plan);

  void begin();

 private:
  void strike_later();
  void strike();
  bool strike_net(Fault fault);
  bool strike_pool(Fault fault);
  bool strike_node(Fault fault);
  void clog();
  void fill_disk();
  void slow_disk();
  void heal();
  SimNode& some_node();
  Duration some_time(Duration most);

  Stage& stage_;
  SimNet& net_;
  SimDisk& disk_;
  SimPool& pool_;
  std::vector<std::unique_ptr<SimNode>>& nodes_;
  const SimPlan& plan_;
  std::vector<Fault> choices_;
  double weight_sum_ = 0;
  bool over_ = false;
};

}  // namespace wide::sim
