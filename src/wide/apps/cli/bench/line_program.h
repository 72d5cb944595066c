#pragma once
// A program that a bench has started and speaks with in lines, over its stdin and stdout. It
// never outlives the bench for long, however that ends.

#include <chrono>
#include <string>

#include "wide/apps/cli/bench/child.h"
#include "wide/apps/cli/node_program.h"
#include "wide/store/descriptor.h"

namespace wide::apps::bench {

using Patience = std::chrono::duration<double>;

class LineProgram final {
 public:
  // One that stays sees its stdin end with us, does what is left to do and goes. Failure: kMachine.
  explicit LineProgram(const NodeCall& call, Child::Fate fate = Child::Fate::kKilled);
  ~LineProgram();
  LineProgram(const LineProgram&) = delete;
  LineProgram& operator=(const LineProgram&) = delete;

  void say(const std::string& line);         // Failure where nobody listens
  std::string hear(Patience patience);       // a line, without its end; Failure where none comes
  std::string hear_all(Patience patience);   // until its stdout is closed
  bool has_ended_within(Patience patience);  // waits so long for it
  int exit_code(Patience patience);          // once it has ended; Failure: it is still there
  const Child& process() const { return child_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Line {  // what is its stdin and stdout
    store::Descriptor ours;
    store::Descriptor theirs;
  };
  static Line lay_line();
  LineProgram(const NodeCall& call, Child::Fate fate, Line line);
  bool read_some(Clock::time_point until);  // false: nothing more will come. Failure: too late

  std::string name_;
  Child::Fate fate_;
  Child child_;
  store::Descriptor line_;
  store::Descriptor watched_;  // a descriptor of the process itself
  std::string heard_;
};

}  // namespace wide::apps::bench
