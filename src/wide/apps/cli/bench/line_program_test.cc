#include "wide/apps/cli/bench/line_program.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "wide/base/error.h"

namespace wide::apps::bench {

namespace {
constexpr Patience kAWhile(20);

NodeCall shell(const std::string& script) {
  NodeCall call;
  call.program = "/bin/sh";
  call.arguments = {"-c", script};
  return call;
}
}  // namespace

TEST(LineProgram, AnswersLineByLine) {
  LineProgram program(shell("while read line; do echo \"heard $line\"; done"));

  program.say("one");
  EXPECT_EQ(program.hear(kAWhile), "heard one");
  program.say("two");
  EXPECT_EQ(program.hear(kAWhile), "heard two");
}

TEST(LineProgram, TellsHowItEnded) {
  LineProgram program(shell("echo last words; exit 3"));

  EXPECT_EQ(program.hear_all(kAWhile), "last words\n");
  EXPECT_EQ(program.exit_code(kAWhile), 3);
}

TEST(LineProgram, FailsWhereNoAnswerComes) {
  LineProgram silent(shell("read line"));
  LineProgram gone(shell("exit 0"));

  EXPECT_THROW(silent.hear(Patience(0.01)), Failure);
  EXPECT_THROW(gone.hear(kAWhile), Failure);
}

TEST(LineProgram, IsGoneWithItsOwner) {
  pid_t process = 0;
  {
    LineProgram program(shell("read line"));
    process = program.process().id();
  }

  EXPECT_NE(kill(process, 0), 0);
}

}  // namespace wide::apps::bench
