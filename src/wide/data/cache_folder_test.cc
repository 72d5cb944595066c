#include <gtest/gtest.h>

#include "wide/data/dataset.h"

namespace wide::data {
namespace {

TEST(CacheFolder, FollowsTheXdgVariables) {
  EXPECT_EQ(cache_folder("/tmp/cache", "/home/ann"), "/tmp/cache/wide");
  EXPECT_EQ(cache_folder("", "/home/ann"), "/home/ann/.cache/wide");
}

TEST(CacheFolder, IgnoresARelativeXdgPath) {
  EXPECT_EQ(cache_folder("cache", "/home/ann"), "/home/ann/.cache/wide");
}

TEST(CacheFolder, IsEmptyWhereNothingIsKnown) { EXPECT_TRUE(cache_folder("", "").empty()); }

}  // namespace
}  // namespace wide::data
