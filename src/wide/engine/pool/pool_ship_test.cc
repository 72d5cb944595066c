// Samples for nodes that lack them: who may ask for what.

#include <gtest/gtest.h>

#include "wide/engine/pool/pool_desk.h"

namespace wide::engine {
namespace {

SampleSpace shipped_space() {
  SampleSpace space = desk_space();
  space.chunk_count = 40;
  space.samples_per_chunk = 30;
  space.carried_bytes = 25;
  return space;
}

Job shipping_job(Ship ship) {
  Job job = desk_job(5);
  job.samples.kind = SampleKind::kIdx;
  job.samples.ship = ship;
  job.train.block_units = 2;
  return job;
}

LinkId greet(PoolDesk& desk) {
  const LinkId link = desk.open();
  wire::Hello hello;
  hello.name = "newcomer";
  desk.say(link, hello);
  return link;
}

TEST(PoolShipping, AnswersWithTheManifestThenWithChunks) {
  PoolDesk desk(shipping_job(Ship::kAuto), shipped_space());
  const LinkId link = greet(desk);

  desk.say(link, wire::WantSamples{});
  desk.say(link, wire::Fetch{{{7}, {39}}});

  ASSERT_EQ(desk.shipments.size(), 3u);
  EXPECT_EQ(std::get<SendManifest>(desk.shipments[0]).link, link);
  EXPECT_EQ(std::get<SendChunk>(desk.shipments[1]).chunk, 7u);
  EXPECT_EQ(std::get<SendChunk>(desk.shipments[2]).chunk, 39u);
}

TEST(PoolShipping, RefusesAChunkThatThereIsNot) {
  PoolDesk desk(shipping_job(Ship::kAuto), shipped_space());
  const LinkId link = greet(desk);

  desk.say(link, wire::Fetch{{{1}, {40}}});

  EXPECT_TRUE(desk.shipments.empty());
  EXPECT_EQ(desk.close_code(link), Errc::kUnexpectedMessage);
}

TEST(PoolShipping, RefusesMoreThanMayBeOwed) {
  PoolDesk desk(shipping_job(Ship::kAuto), shipped_space());
  const LinkId link = greet(desk);
  wire::Fetch fetch;
  for (std::uint64_t i = 0; i < kFetchCountMax; ++i) fetch.chunks.push_back({i});

  desk.say(link, fetch);
  EXPECT_EQ(desk.shipments.size(), kFetchCountMax);
  desk.pool().shipped(link, 1000, true);
  desk.say(link, wire::Fetch{{{20}}});
  EXPECT_EQ(desk.shipments.size(), kFetchCountMax + 1);
  desk.say(link, wire::Fetch{{{21}}});

  EXPECT_EQ(desk.shipments.size(), kFetchCountMax + 1);
  EXPECT_EQ(desk.close_code(link), Errc::kUnexpectedMessage);
}

TEST(PoolShipping, SendsTheManifestOnce) {
  PoolDesk desk(shipping_job(Ship::kAuto), shipped_space());
  const LinkId link = greet(desk);

  desk.say(link, wire::WantSamples{});
  desk.say(link, wire::WantSamples{});

  EXPECT_EQ(desk.shipments.size(), 1u);
  EXPECT_EQ(desk.close_code(link), Errc::kUnexpectedMessage);
}

TEST(PoolShipping, SendsNothingWhereTheJobSaysLocal) {
  PoolDesk desk(shipping_job(Ship::kLocal), shipped_space());
  const LinkId link = greet(desk);

  desk.say(link, wire::WantSamples{});

  EXPECT_TRUE(desk.shipments.empty());
  EXPECT_EQ(desk.close_code(link), Errc::kNotShipped);
}

TEST(PoolShipping, SendsNothingToWhoOnlyWatches) {
  PoolDesk desk(shipping_job(Ship::kAuto), shipped_space());
  const LinkId link = desk.open();
  wire::Hello hello;
  hello.role = wire::Role::kObserver;
  desk.say(link, hello);

  desk.say(link, wire::WantSamples{});

  EXPECT_TRUE(desk.shipments.empty());
  EXPECT_EQ(desk.close_code(link), Errc::kUnexpectedMessage);
}

TEST(PoolShipping, CarriesTheSamplesOfEveryLease) {
  PoolDesk desk(shipping_job(Ship::kAlways), shipped_space());
  const LinkId link = desk.join("n", 3);

  ASSERT_EQ(desk.shipments.size(), 3u) << "one block each: units 0 1, 2 3, and 4 alone";
  const auto& first = std::get<SendSamples>(desk.shipments[0]);
  EXPECT_EQ(first.link, link);
  EXPECT_FALSE(first.held_out);
  EXPECT_EQ(first.first, 0u);
  EXPECT_EQ(first.count, 2u * 32);
  EXPECT_EQ(std::get<SendSamples>(desk.shipments[1]).first, 2u * 32);
  EXPECT_EQ(std::get<SendSamples>(desk.shipments[2]).first, 4u * 32);
  EXPECT_EQ(std::get<SendSamples>(desk.shipments[2]).count, 32u);
}

TEST(PoolShipping, CarriesUnitZeroForTheFingerprint) {
  PoolDesk desk(shipping_job(Ship::kAlways), shipped_space());
  const LinkId link = greet(desk);

  desk.say(link, wire::WantSamples{});

  ASSERT_EQ(desk.shipments.size(), 2u);
  EXPECT_EQ(std::get<SendSamples>(desk.shipments[1]).first, 0u);
  EXPECT_EQ(std::get<SendSamples>(desk.shipments[1]).count, 32u);
}

TEST(PoolShipping, CountsWhatWasSent) {
  PoolDesk desk(shipping_job(Ship::kAuto), shipped_space());
  const LinkId link = greet(desk);
  const auto before = desk.pool().summary().bytes_sent;

  desk.pool().shipped(link, 4096, false);

  EXPECT_EQ(desk.pool().summary().shipped_bytes, 4096u);
  EXPECT_EQ(desk.pool().summary().bytes_sent, before + 4096);
}

}  // namespace
}  // namespace wide::engine
