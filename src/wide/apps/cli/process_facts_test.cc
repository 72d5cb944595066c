#include "wide/apps/cli/process_facts.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace wide::apps {
namespace {

TEST(ReadMemory, AddsUpWhatIsPrivate) {
  const Memory memory = read_memory(
      "00400000-7ffc0000 ---p 00000000 00:00 0    [rollup]\n"
      "Rss:                1000 kB\n"
      "Pss:                 700 kB\n"
      "Pss_Dirty:            60 kB\n"
      "Shared_Clean:        500 kB\n"
      "Private_Clean:       100 kB\n"
      "Private_Dirty:       400 kB\n");

  EXPECT_EQ(memory.private_bytes, 500u * 1024);
  EXPECT_EQ(memory.proportional_bytes, 700u * 1024);
}

TEST(ReadMemory, IsNothingWhereThereIsNothing) { EXPECT_EQ(read_memory("").private_bytes, 0u); }

TEST(ProcessFacts, AreKnownOfOurselves) {
  EXPECT_GT(memory_of(getpid()).proportional_bytes, 0u);
  EXPECT_GT(cpu_seconds_of(getpid()), 0);
  EXPECT_EQ(family(getpid()).front(), getpid());
}

TEST(ProcessFacts, AreNothingOfNobody) {
  constexpr pid_t kNobody = 0x7ffffff0;
  EXPECT_EQ(memory_of(kNobody).proportional_bytes, 0u);
  EXPECT_EQ(cpu_seconds_of(kNobody), 0);
  EXPECT_EQ(family(kNobody).size(), 1u);
}

}  // namespace
}  // namespace wide::apps
