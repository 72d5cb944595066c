#include "wide/base/failpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <set>

namespace wide {
namespace {

#ifdef WIDE_FAILPOINTS

class Failpoints : public ::testing::Test {
 protected:
  ~Failpoints() override { EXPECT_TRUE(arm_failpoints("")); }
};
using FailpointsDeathTest = Failpoints;

TEST_F(Failpoints, DoNothingUnarmed) {
  for (const auto name : kFailpoints) {
    failpoint(name);
    EXPECT_FALSE(failpoint_error(name));
    EXPECT_FALSE(failpoint_armed(name));
  }
}

TEST_F(Failpoints, FailOnceAtTheHitNamed) {
  ASSERT_TRUE(arm_failpoints("disk.sync:3:io"));

  EXPECT_TRUE(failpoint_armed("disk.sync"));
  EXPECT_FALSE(failpoint_error("disk.sync"));
  EXPECT_FALSE(failpoint_error("disk.append"));
  EXPECT_FALSE(failpoint_error("disk.sync"));
  EXPECT_TRUE(failpoint_error("disk.sync"));
  EXPECT_FALSE(failpoint_error("disk.sync"));
  EXPECT_FALSE(failpoint_armed("disk.sync"));
}

TEST_F(FailpointsDeathTest, EndTheProcessAtTheHitNamed) {
  const auto hit_twice = [] {
    if (!arm_failpoints("disk.append:7:io,prune.before:2")) return;
    failpoint("prune.before");
    std::fputs("once, ", stderr);
    failpoint("prune.before");
    std::fputs("twice", stderr);
  };
  EXPECT_EXIT(hit_twice(), ::testing::KilledBySignal(SIGKILL), "once, $");
}

TEST_F(Failpoints, RefuseWhatTheyDoNotKnow) {
  for (const auto* spec :
       {"nonsense:1", "disk.sync", "disk.sync:", "disk.sync:0", "disk.sync:x", "disk.sync:1:no",
        "disk.sync:1:io:1", "prune.before:1:io", ":", ",", "disk.sync:1,?"}) {
    const auto armed = arm_failpoints(spec);
    ASSERT_FALSE(armed) << spec;
    EXPECT_EQ(armed.error().code, Errc::kUsage);
  }
}

#endif

TEST(FailpointNames, AreDistinct) {
  const std::set<std::string_view> names(kFailpoints.begin(), kFailpoints.end());
  EXPECT_EQ(names.size(), kFailpoints.size());
}

}  // namespace
}  // namespace wide
