#include "wide/engine/pool/roster.h"

#include <gtest/gtest.h>

namespace wide::engine {
namespace {

Member& arrive(Roster& roster, std::uint64_t link, const std::string& name) {
  Member& member = roster.open({link}, "somewhere", {});
  member.node = {static_cast<std::uint32_t>(link)};
  member.slots = 2;
  roster.give_name(member, name);
  return member;
}

TEST(Roster, GivesEveryoneANameOfTheirOwn) {
  Roster roster;

  EXPECT_EQ(arrive(roster, 1, "n").name, "n");
  EXPECT_EQ(arrive(roster, 2, "n").name, "n-2");
  roster.remove({1});
  EXPECT_EQ(arrive(roster, 3, "n").name, "n") << "it is free again";
  EXPECT_EQ(arrive(roster, 4, "").name, "node");
}

TEST(Roster, CountsThoseWhoAreReady) {
  Roster roster;
  for (const std::uint64_t link : {1, 2}) {
    Member& member = arrive(roster, link, "a");
    roster.expect(member);
    roster.make_ready(member);
  }
  roster.expect(arrive(roster, 3, "c"));
  EXPECT_EQ(roster.ready_count(), 2u);
  EXPECT_EQ(roster.ready_slots(), 4u);
  EXPECT_EQ(roster.coming_slots(), 2u);

  roster.remove({1});
  roster.remove({3});

  EXPECT_EQ(roster.ready_count(), 1u);
  EXPECT_EQ(roster.ready_slots(), 2u);
  EXPECT_EQ(roster.coming_slots(), 0u);
}

TEST(Roster, ExpectsNobodyTwice) {
  Roster roster;
  Member& member = arrive(roster, 1, "a");
  roster.expect(member);

  roster.expect_no_longer(member);
  roster.expect_no_longer(member);
  EXPECT_EQ(roster.coming_slots(), 0u);

  roster.make_ready(member);
  EXPECT_EQ(roster.coming_slots(), 0u);
  EXPECT_EQ(roster.ready_slots(), 2u);
}

TEST(Roster, KnowsWhoIsAtWorkInTheOrderOfTheirLinks) {
  Roster roster;
  Member& late = arrive(roster, 9, "late");
  Member& early = arrive(roster, 3, "early");
  Member& done = arrive(roster, 5, "done");
  for (Member* member : {&late, &early, &done}) {
    member->credits = 1;
    roster.put_to_work(*member);
    roster.put_to_work(*member);  // once is enough
  }
  EXPECT_EQ(roster.at_work(), (std::vector<Member*>{&early, &done, &late}));

  done.credits = 0;
  late.credits = 0;
  late.leases.push_back({1});
  EXPECT_EQ(roster.at_work(), (std::vector<Member*>{&early, &late}));

  done.credits = 1;
  roster.put_to_work(done);
  roster.remove({3});
  EXPECT_EQ(roster.at_work(), (std::vector<Member*>{&done, &late}));
}

}  // namespace
}  // namespace wide::engine
