#include "wide/net/dialer.h"

#include <gtest/gtest.h>

#include <asio/io_context.hpp>

namespace wide::net {
namespace {

using asio::ip::tcp;

tcp::endpoint loopback(std::uint16_t port) { return {asio::ip::address_v4::loopback(), port}; }

TEST(AnswersItself, SeesACallThatWasGivenThePortItCalls) {
  asio::io_context io{1};
  tcp::socket caller(io, loopback(0));  // bound, and nobody listens there

  caller.connect(caller.local_endpoint());

  EXPECT_TRUE(answers_itself(caller));
}

TEST(AnswersItself, LetsOthersAnswer) {
  asio::io_context io{1};
  tcp::acceptor listener(io, loopback(0));
  tcp::socket caller(io);

  caller.connect(listener.local_endpoint());

  EXPECT_FALSE(answers_itself(caller));
  EXPECT_FALSE(answers_itself(tcp::socket(io))) << "nor one that is not connected";
}

}  // namespace
}  // namespace wide::net
