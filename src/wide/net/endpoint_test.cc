#include "wide/net/endpoint.h"

#include <gtest/gtest.h>

namespace wide::net {

TEST(ParseListen, TakesHostAndPort) {
  const auto endpoint = parse_listen("0.0.0.0:9000");

  ASSERT_TRUE(endpoint);
  EXPECT_EQ(endpoint->host, "0.0.0.0");
  EXPECT_EQ(endpoint->port, 9000);
  EXPECT_TRUE(endpoint->is_any());
}

TEST(ParseListen, FillsInWhatIsMissing) {
  EXPECT_EQ(parse_listen("example.org")->text(), "example.org:7878");
  EXPECT_EQ(parse_listen(":0")->text(), "127.0.0.1:0");
  EXPECT_EQ(parse_listen("::1")->text(), "[::1]:7878");
  EXPECT_EQ(parse_listen("[::]:80")->text(), "[::]:80");
}

TEST(ParseListen, RefusesNonsense) {
  for (const char* text : {"", "7878", "host:", "host:port", "host:65536", "host:-1", "a b:1",
                           "[::1", "[::1]80", "1:2:3:zz", "host:1x", "host/path:1"}) {
    const auto endpoint = parse_listen(text);
    ASSERT_FALSE(endpoint) << text;
    EXPECT_EQ(endpoint.error().code, Errc::kBadAddress) << text;
  }
}

TEST(ParseUrl, TakesBothForms) {
  EXPECT_EQ(parse_url("wide://10.0.0.7:7000")->text(), "10.0.0.7:7000");
  EXPECT_EQ(parse_url("wide://pool.example/")->text(), "pool.example:7878");
  EXPECT_EQ(parse_url("[fd00::1]:99")->url(), "wide://[fd00::1]:99");
}

TEST(ParseUrl, RefusesWhatCannotBeDialled) {
  for (const char* text :
       {"", "wide://", "wide://:7000", "http://host:80", "host:0", "wide://host:1/extra"}) {
    EXPECT_FALSE(parse_url(text)) << text;
  }
}

TEST(Endpoint, KnowsLoopback) {
  EXPECT_TRUE((Endpoint{"127.3.2.1", 1}).is_loopback());
  EXPECT_TRUE((Endpoint{"::1", 1}).is_loopback());
  EXPECT_TRUE((Endpoint{"localhost", 1}).is_loopback());
  EXPECT_FALSE((Endpoint{"10.0.0.1", 1}).is_loopback());
  EXPECT_FALSE((Endpoint{"0.0.0.0", 1}).is_loopback());
}

TEST(AddressesForOthers, NeverNamesLoopback) {
  for (const auto& address : addresses_for_others()) {
    EXPECT_FALSE((Endpoint{address, 1}).is_loopback()) << address;
    EXPECT_FALSE(address.starts_with("169.254.")) << address;
    EXPECT_FALSE(address.starts_with("fe80")) << address;
  }
}

}  // namespace wide::net
