#include "wide/codec/elias_fano.h"

#include <gtest/gtest.h>

#include "wide/base/philox.h"

namespace wide::codec {
namespace {

using Bytes = std::vector<std::byte>;
using Places = std::vector<std::size_t>;

Bytes encoded(std::size_t count, const Places& places) {
  const EliasFano format(count, places.size());
  Bytes coded(format.bytes());
  for (std::size_t i = 0; i < places.size(); ++i) format.put(i, places[i], coded);
  return coded;
}

bool read(std::size_t count, std::size_t kept, const Bytes& coded, Places& places) {
  places.clear();
  return EliasFano(count, kept).read(coded, [&](std::size_t index, std::size_t place) {
    EXPECT_EQ(index, places.size());
    places.push_back(place);
  });
}

// Each place with a chance of one in `rarity`.
Places some_places(std::size_t count, std::uint32_t rarity) {
  const RandomStream stream(count, rarity, 0);
  Places places;
  for (std::size_t place = 0; place < count; ++place) {
    if (stream.word(place) % rarity == 0) places.push_back(place);
  }
  return places;
}

TEST(EliasFano, RoundTripsPlacesOfEveryDensity) {
  for (const std::size_t count : {1u, 2u, 63u, 64u, 65u, 500u, 4001u}) {
    for (const std::uint32_t rarity : {1u, 2u, 7u, 100u, 1000u}) {
      const Places places = some_places(count, rarity);
      Places seen;

      ASSERT_TRUE(read(count, places.size(), encoded(count, places), seen));

      EXPECT_EQ(seen, places);
    }
  }
}

TEST(EliasFano, TakesTheFirstAndTheLastPlace) {
  Places seen;

  EXPECT_TRUE(read(1000, 2, encoded(1000, {0, 999}), seen));
  EXPECT_EQ(seen, Places({0, 999}));
}

// Every code that is taken is the code of what was read: there is one for each set of places.
TEST(EliasFano, RefusesEverythingButItsOwnCodes) {
  const Places places = some_places(300, 50);
  const Bytes coded = encoded(300, places);
  for (std::size_t bit = 0; bit < 8 * coded.size(); ++bit) {
    Bytes flipped = coded;
    flipped[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
    Places seen;
    if (read(300, places.size(), flipped, seen)) {
      EXPECT_EQ(encoded(300, seen), flipped) << bit;
    }
  }
}

TEST(EliasFano, RefusesPlacesOutOfOrderOrOutOfRange) {
  // 8 of 64: three low bits each. All with high part 0, then 1, …: low parts fall where they rose.
  Bytes coded = encoded(64, {0, 1, 2, 3, 4, 5, 6, 7});
  coded[0] ^= std::byte{0x07};  // the first is 7
  Places seen;
  EXPECT_FALSE(read(64, 8, coded, seen));

  EXPECT_FALSE(read(60, 1, encoded(64, {63}), seen));
  EXPECT_FALSE(read(64, 1, Bytes(3), seen));
}

}  // namespace
}  // namespace wide::codec
