// wide-stub-node: a whole node over real TCP whose gradients are made up, so that whole-run tests
// need no libtorch and can kill hundreds of nodes. Bits are those of engine::StubComputer.
//
//   wide-stub-node --connect HOST:PORT [--name NAME] [--slots N] [--delay-us N] [--units-limit N]
//                  [--throw-at N] [--quiet]
//
//   --delay-us N     every unit takes at least so long
//   --units-limit N  dies without a word (as kill -9 would) once it has begun so many units
//   --throw-at N     the computer throws at its N-th unit
//
// Exit codes are those of `wide join`.

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "wide/base/error_catalog.h"
#include "wide/base/log.h"
#include "wide/engine/stub_computer.h"
#include "wide/net/node_client.h"

namespace {

using namespace wide;

struct Flags {
  net::NodeClientOptions client;
  std::chrono::microseconds delay{0};
  std::uint64_t units_limit = 0;
  std::uint64_t throw_at = 0;
};

// Counts the units of all slots together; the first two of a process are the fingerprint's.
class TroubledComputer final : public engine::UnitComputer {
 public:
  TroubledComputer(std::unique_ptr<engine::UnitComputer> inner, const Flags& flags,
                   std::atomic<std::uint64_t>& units)
      : inner_(std::move(inner)), flags_(flags), units_(units) {}

  double gradient(const engine::Weights& weights, Step step, Unit unit,
                  std::span<float> out) override {
    const auto begun = ++units_;
    if (flags_.units_limit != 0 && begun > flags_.units_limit) ::_exit(137);
    if (flags_.throw_at != 0 && begun >= flags_.throw_at)
      throw std::runtime_error("asked to throw");
    if (flags_.delay.count() > 0) std::this_thread::sleep_for(flags_.delay);
    return inner_->gradient(weights, step, unit, out);
  }
  engine::EvalOutcome evaluate(const engine::Weights& weights, std::uint64_t first,
                               std::uint64_t count) override {
    return inner_->evaluate(weights, first, count);
  }

 private:
  std::unique_ptr<engine::UnitComputer> inner_;
  const Flags& flags_;
  std::atomic<std::uint64_t>& units_;
};

class TroubledFactory final : public engine::ComputerFactory {
 public:
  TroubledFactory(const engine::Job& job, const SampleSpace& space, const Flags& flags)
      : stub_(job, space), flags_(flags) {}

  std::unique_ptr<engine::UnitComputer> make_computer() override {
    return std::make_unique<TroubledComputer>(stub_.make_computer(), flags_, units_);
  }
  std::string libraries() const override { return stub_.libraries(); }

 private:
  engine::StubFactory stub_;
  const Flags& flags_;
  std::atomic<std::uint64_t> units_ = 0;
};

[[noreturn]] void usage(const std::string& why) {
  throw Failure(Errc::kUsage, why + "; see the head of stub_node.cc");
}

std::uint64_t number(const std::string& flag, const char* text) {
  char* end = nullptr;
  const auto value = std::strtoull(text, &end, 10);
  if (*text == '\0' || *end != '\0') usage(flag + " takes a number");
  return value;
}

void take(Flags& flags, const std::string& flag, const char* value) {
  if (flag == "--connect") {
    flags.client.pool = value_or_throw(net::parse_url(value));
  } else if (flag == "--name") {
    flags.client.node.name = value;
  } else if (flag == "--slots") {
    flags.client.node.slots = static_cast<std::uint16_t>(number(flag, value));
  } else if (flag == "--delay-us") {
    flags.delay = std::chrono::microseconds(number(flag, value));
  } else if (flag == "--units-limit") {
    flags.units_limit = number(flag, value);
  } else if (flag == "--throw-at") {
    flags.throw_at = number(flag, value);
  } else {
    usage("unknown flag " + flag);
  }
}

Flags parse(int count, char** words) {
  Flags flags;
  flags.client.node = {"stub", 1, WIDE_VERSION};
  for (int i = 1; i < count; ++i) {
    const std::string flag = words[i];
    if (flag == "--quiet") {
      flags.client.quiet = true;
    } else if (i + 1 < count) {
      take(flags, flag, words[++i]);
    } else {
      usage(flag + " needs a value");
    }
  }
  if (flags.client.pool.host.empty()) usage("--connect HOST:PORT is missing");
  if (flags.client.node.slots == 0) usage("--slots starts at 1");
  return flags;
}

int run(int count, char** words) {
  const Flags flags = parse(count, words);
  const auto make_factory = [&flags](const engine::Job& job, const engine::Layout&,
                                     const data::DatasetPtr& samples) {
    return std::make_unique<TroubledFactory>(job, samples->space(), flags);
  };
  net::NodeClient client(flags.client, make_factory);
  client.run();
  return static_cast<int>(client.interrupted() ? ExitCode::kInterrupted : ExitCode::kOk);
}

}  // namespace

int main(int count, char** words) {
  try {
    return run(count, words);
  } catch (const Failure& failure) {
    log::error("{}", failure.what());
    return static_cast<int>(catalog_entry(failure.error().code).exit_code);
  }
}
