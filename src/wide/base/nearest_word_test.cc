#include "wide/base/nearest_word.h"

#include <gtest/gtest.h>

#include <array>

namespace wide {
namespace {

constexpr std::array<std::string_view, 7> kWords = {"batch", "epochs", "steps",    "lr",
                                                    "betas", "eps",    "clip_norm"};

std::string_view nearest(std::string_view typo) { return nearest_word(typo, kWords); }

TEST(NearestWord, FindsASwap) { EXPECT_EQ(nearest("btach"), "batch"); }
TEST(NearestWord, FindsAMissingLetter) { EXPECT_EQ(nearest("epoch"), "epochs"); }
TEST(NearestWord, FindsAnExtraLetter) { EXPECT_EQ(nearest("llr"), "lr"); }
TEST(NearestWord, FindsAChangedLetter) { EXPECT_EQ(nearest("clip-norm"), "clip_norm"); }
TEST(NearestWord, FindsTheWordItself) { EXPECT_EQ(nearest("steps"), "steps"); }
TEST(NearestWord, TakesTheNearer) { EXPECT_EQ(nearest("epss"), "eps"); }
TEST(NearestWord, FindsSeveralTyposInALongWord) { EXPECT_EQ(nearest("clpi_nrom"), "clip_norm"); }

TEST(NearestWord, IsEmptyWhenNothingIsNear) {
  EXPECT_EQ(nearest("optimizer"), "");
  EXPECT_EQ(nearest("xy"), "");
  EXPECT_EQ(nearest(""), "");
  EXPECT_EQ(nearest_word("batch", {}), "");
}

}  // namespace
}  // namespace wide
