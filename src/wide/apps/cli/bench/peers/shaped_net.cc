#include "wide/apps/cli/bench/peers/shaped_net.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "wide/base/error.h"

namespace wide::apps::bench {

namespace {

constexpr const char* kIp = "/usr/sbin/ip";
constexpr const char* kTc = "/usr/sbin/tc";
constexpr const char* kBridge = "br0";

std::string stem() { return fmt::format("widebench{}", getpid()); }

std::vector<std::string> machine_names(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(fmt::format("{}m{}", stem(), i));
  return names;
}

std::string port(std::size_t machine) { return fmt::format("p{}", machine); }

// Waits for the end of its stdin, which is our end, and removes the namespaces given; their cables
// go with them.
NodeCall remover_of(const std::string& hub, const std::vector<std::string>& names,
                    const Environment& environment) {
  NodeCall call;
  call.program = "/bin/sh";
  call.environment = environment;
  call.quiet = true;
  call.arguments = {"-c",
                    fmt::format("trap '' INT TERM HUP; read line; for name in \"$@\"; do "
                                "{} netns del \"$name\"; done",
                                kIp),
                    "sh", hub};
  call.arguments.insert(call.arguments.end(), names.begin(), names.end());
  return call;
}

}  // namespace

ShapedNet::ShapedNet(std::size_t machines, std::uint32_t megabits, const Environment& environment)
    : environment_(environment),
      hub_(stem() + "h"),
      names_(machine_names(machines)),
      remover_(remover_of(hub_, names_, environment), Child::Fate::kStays) {
  if (geteuid() != 0) throw Failure(Errc::kMachine, "making network namespaces needs root");
  make_hub();
  for (std::size_t i = 0; i < machines; ++i) add_machine(i, megabits);
}

std::string ShapedNet::address(std::size_t machine) const {
  return fmt::format("10.77.0.{}", machine + 1);
}

NodeCall ShapedNet::inside(std::size_t machine, const NodeCall& call) const {
  NodeCall there = call;
  there.program = kIp;
  there.arguments = {"netns", "exec", names_.at(machine), call.program.string()};
  there.arguments.insert(there.arguments.end(), call.arguments.begin(), call.arguments.end());
  return there;
}

void ShapedNet::call(const std::string& program, std::vector<std::string> arguments) const {
  NodeCall asked;
  asked.program = program;
  asked.environment = environment_;
  asked.quiet = true;
  asked.arguments = std::move(arguments);
  const Answer answer = ask_program(asked);
  if (answer.exit_code == 0) return;
  throw Failure(Errc::kMachine, fmt::format("`{} {}` ended with code {}", program,
                                            fmt::join(asked.arguments, " "), answer.exit_code));
}

void ShapedNet::ip(std::vector<std::string> arguments) const { call(kIp, std::move(arguments)); }

void ShapedNet::make_hub() {
  ip({"netns", "add", hub_});
  ip({"-n", hub_, "link", "add", kBridge, "type", "bridge"});
  ip({"-n", hub_, "link", "set", kBridge, "up"});
}

void ShapedNet::add_machine(std::size_t machine, std::uint32_t megabits) {
  const std::string& name = names_[machine];
  ip({"netns", "add", name});
  ip({"link", "add", "name", kDevice, "netns", name, "type", "veth", "peer", "name", port(machine),
      "netns", hub_});
  ip({"-n", hub_, "link", "set", port(machine), "master", kBridge, "up"});
  ip({"-n", name, "addr", "add", address(machine) + "/24", "dev", kDevice});
  ip({"-n", name, "link", "set", kDevice, "up"});
  ip({"-n", name, "link", "set", "lo", "up"});
  shape(name, kDevice, megabits);
  shape(hub_, port(machine), megabits);
}

void ShapedNet::shape(const std::string& space, const std::string& device, std::uint32_t megabits) {
  // A bucket must hold what a kernel's tick lets through, or the rate is never reached.
  const auto burst_bytes = std::max<std::uint64_t>(32'000, megabits * std::uint64_t{1'250});
  call(kTc,
       {"-n", space, "qdisc", "add", "dev", device, "root", "tbf", "rate",
        fmt::format("{}mbit", megabits), "burst", fmt::to_string(burst_bytes), "latency", "20ms"});
}

}  // namespace wide::apps::bench
