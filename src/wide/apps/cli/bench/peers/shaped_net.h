#pragma once
// A few machines on slow cables, made of network namespaces of this one:
//
//   machine 0 ─ eth0 ══ p0 ┐
//   machine 1 ─ eth0 ══ p1 ┼ bridge      every cable has the rate given, in each direction
//   machine 2 ─ eth0 ══ p2 ┘
//
// Nothing else of this machine is touched, and none of its addresses can clash with its own. A
// child waits for the end of this process, however it comes, and takes everything away again.

#include <cstdint>
#include <string>
#include <vector>

#include "wide/apps/cli/bench/line_program.h"

namespace wide::apps::bench {

class ShapedNet final {
 public:
  static constexpr const char* kDevice = "eth0";  // of every machine

  // Failure (kMachine) where it cannot be made: not root, no ip or tc, a kernel without tbf.
  ShapedNet(std::size_t machines, std::uint32_t megabits, const Environment& environment);

  std::size_t size() const { return names_.size(); }
  const std::vector<std::string>& names() const { return names_; }  // of the namespaces
  std::string address(std::size_t machine) const;
  // The same program, there.
  NodeCall inside(std::size_t machine, const NodeCall& call) const;

 private:
  void call(const std::string& program, std::vector<std::string> arguments) const;
  void ip(std::vector<std::string> arguments) const;
  void make_hub();
  void add_machine(std::size_t machine, std::uint32_t megabits);
  void shape(const std::string& space, const std::string& device, std::uint32_t megabits);

  Environment environment_;
  std::string hub_;
  std::vector<std::string> names_;
  LineProgram remover_;
};

}  // namespace wide::apps::bench
