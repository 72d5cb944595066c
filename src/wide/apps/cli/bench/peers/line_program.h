#pragma once
// A program that a bench has started and speaks with in lines, over its stdin and stdout. It
// never outlives the bench for long, however that ends.

#include <sys/types.h>

#include <chrono>
#include <string>

#include "wide/apps/cli/node_program.h"
#include "wide/store/descriptor.h"

namespace wide::apps::bench {

using Patience = std::chrono::duration<double>;

class LineProgram final {
 public:
  enum class Fate {
    kKilled,  // with us
    kTold,    // its stdin ends with us; it does what is left to do and goes
  };

  explicit LineProgram(const NodeCall& call, Fate fate = Fate::kKilled);  // Failure: kMachine
  ~LineProgram();
  LineProgram(const LineProgram&) = delete;
  LineProgram& operator=(const LineProgram&) = delete;

  void say(const std::string& line);         // Failure where nobody listens
  std::string hear(Patience patience);       // a line, without its end; Failure where none comes
  std::string hear_all(Patience patience);   // until its stdout is closed
  bool has_ended_within(Patience patience);  // waits so long for it
  int exit_code(Patience patience);          // once it has ended; Failure: it is still there
  pid_t process() const { return process_; }

 private:
  using Clock = std::chrono::steady_clock;
  bool read_some(Clock::time_point until);  // false: nothing more will come. Failure: too late

  std::string name_;
  Fate fate_;
  pid_t process_ = -1;
  store::Descriptor line_;     // its stdin and stdout
  store::Descriptor watched_;  // a descriptor of the process itself
  std::string heard_;
  bool waited_for_ = false;
};

}  // namespace wide::apps::bench
