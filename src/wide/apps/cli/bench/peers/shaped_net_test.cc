#include "wide/apps/cli/bench/peers/shaped_net.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>

#include "wide/base/error.h"

namespace wide::apps::bench {

namespace {
// Null, with the reason, where this machine or user cannot make namespaces.
std::unique_ptr<ShapedNet> made(std::uint32_t megabits, std::string& why) {
  try {
    return std::make_unique<ShapedNet>(2, megabits, Environment());
  } catch (const Failure& failure) {
    why = describe(failure.error());
    return nullptr;
  }
}

Answer run_inside(const ShapedNet& net, std::size_t machine, std::filesystem::path program,
                  std::vector<std::string> arguments) {
  NodeCall call;
  call.program = std::move(program);
  call.arguments = std::move(arguments);
  call.quiet = true;
  return ask_program(net.inside(machine, call));
}

bool exists(const std::string& name) { return std::filesystem::exists("/run/netns/" + name); }
}  // namespace

TEST(ShapedNet, ShapesBothEndsOfEveryCable) {
  std::string why;
  const auto net = made(7, why);
  if (!net) GTEST_SKIP() << why;

  for (std::size_t machine = 0; machine < net->size(); ++machine) {
    const auto answer =
        run_inside(*net, machine, "/usr/sbin/tc", {"qdisc", "show", "dev", ShapedNet::kDevice});
    EXPECT_THAT(answer.output, testing::HasSubstr("tbf"));
    EXPECT_THAT(answer.output, testing::HasSubstr("rate 7Mbit"));
  }
}

// Half a megabyte over 16 Mbit/s takes a quarter of a second; the bucket holds a tenth of it.
TEST(ShapedNet, CarriesBytesAtItsRate) {
  std::string why;
  const auto net = made(16, why);
  if (!net) GTEST_SKIP() << why;
  const std::string receiver =
      "import socket\ns = socket.create_server(('0.0.0.0', 5000))\nprint('ready', flush=True)\n"
      "c, _ = s.accept()\nn = 0\nwhile n < 500000: n += len(c.recv(65536))\nc.send(b'x')\n";
  const std::string sender = "import socket\nc = socket.create_connection(('" + net->address(0) +
                             "', 5000))\nc.sendall(bytes(500000))\nc.recv(1)\n";
  NodeCall call;
  call.program = "/usr/bin/python3";
  call.arguments = {"-c", receiver};
  LineProgram listening(net->inside(0, call));
  ASSERT_EQ(listening.hear(Patience(20)), "ready");

  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(run_inside(*net, 1, "/usr/bin/python3", {"-c", sender}).exit_code, 0);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;

  EXPECT_GT(took.count(), 0.2);
}

TEST(ShapedNet, IsGoneAfterwards) {
  std::string why;
  auto net = made(100, why);
  if (!net) GTEST_SKIP() << why;
  const auto names = net->names();
  for (const auto& name : names) EXPECT_TRUE(exists(name));

  net.reset();

  for (const auto& name : names) EXPECT_FALSE(exists(name));
}

}  // namespace wide::apps::bench
