#include "wide/codec/cost_line.h"

#include <gtest/gtest.h>

namespace wide::codec {
namespace {

TEST(CostLine, FindsBothParts) {
  CostLine line;
  for (const double bytes : {4096.0, 65536.0, 1048576.0, 4096.0})
    line.add(bytes, 50 + 0.25 * bytes);

  EXPECT_NEAR(line.fixed(), 50, 2);
  EXPECT_NEAR(line.per_byte(), 0.25, 0.001);
  EXPECT_NEAR(line.at(10'000), 2550, 25);
}

TEST(CostLine, TakesSizesThatAreAlikeAsTheyAre) {
  CostLine line;
  for (const double bytes : {1e6, 1.01e6, 0.99e6}) line.add(bytes, 0.5 * bytes);
  EXPECT_NEAR(line.per_byte(), 0.5, 1e-6);
  EXPECT_NEAR(line.fixed(), 0, 1);
}

TEST(CostLine, IsNeverNegative) {
  CostLine falling;  // large ones cost more a byte than small ones
  falling.add(1000, 1000);
  falling.add(100'000, 300'000);
  EXPECT_GE(falling.fixed(), 0);

  CostLine fixed_only;
  for (const double bytes : {1000.0, 1e6, 1000.0, 1e6}) fixed_only.add(bytes, 700);
  EXPECT_GE(fixed_only.per_byte(), 0);
}

TEST(CostLine, DoubtsOneSurpriseAndBelievesMany) {
  CostLine line;
  for (int i = 0; i < 10; ++i) line.add(65536, 100);
  line.add(65536, 100'000);
  EXPECT_LT(line.at(65536), 130);

  for (int i = 0; i < 60; ++i) line.add(65536, 1000);
  EXPECT_NEAR(line.at(65536), 1000, 50);
}

TEST(CostLine, IgnoresWhatIsNoExample) {
  CostLine line;
  line.add(0, 10);
  line.add(10, -1);
  EXPECT_TRUE(line.empty());
}

}  // namespace
}  // namespace wide::codec
