// wide-stub-node: a whole node over real TCP whose gradients are made up, so that whole-run tests
// need no libtorch and can kill hundreds of nodes. Bits are those of engine::StubComputer.
//
//   wide-stub-node --connect HOST:PORT [--name NAME] [--slots N] [--delay-us N] [--units-limit N]
//                  [--throw-at N] [--quiet] [--verbose] [--read-samples] [--data DIR] [--job FILE]
//                  [--cache DIR] [--cache-bytes N]
//
//   --read-samples   every unit's gradient depends on every value of its samples, so that a wrong
//                    byte of them shows in the weights
//   --data, --job    as of wide-node: where the samples lie here
//   --cache DIR      where fetched chunks are kept; default: nowhere
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
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "wide/base/error_catalog.h"
#include "wide/base/log.h"
#include "wide/engine/sample_order.h"
#include "wide/engine/stub_computer.h"
#include "wide/net/node_client.h"

namespace {

using namespace wide;

struct Flags {
  net::NodeClientOptions client;
  std::chrono::microseconds delay{0};
  std::uint64_t units_limit = 0;
  std::uint64_t throw_at = 0;
  bool read_samples = false;
};

// A trace of everything a unit's samples hold.
class SampleTrace final {
 public:
  SampleTrace(const engine::Job& job, data::DatasetPtr samples)
      : job_(job),
        samples_(std::move(samples)),
        order_(job_, samples_->space()),
        values_(samples_->space().tokens ? 0 : samples_->space().sample_size()),
        tokens_(samples_->space().tokens ? samples_->space().sample_size() : 0),
        labels_(samples_->space().class_count != 0 ? samples_->space().target_count : 0),
        targets_(samples_->space().class_count != 0 ? 0 : samples_->space().target_count) {}

  float of_unit(Step step, Unit unit) {
    const std::uint64_t first = (step * job_.train.units_per_step + unit) * job_.train.batch;
    std::uint64_t trace = 0;
    for (std::uint64_t i = first; i < first + job_.train.batch; ++i) {
      samples_->load_train(order_.sample_at(i), room());
      trace = add(trace);
    }
    return scaled(trace);
  }
  float held_out(std::uint64_t first, std::uint64_t count) {
    std::uint64_t trace = 0;
    for (std::uint64_t i = first; i < first + count; ++i) {
      samples_->load_eval(i, room());
      trace = add(trace);
    }
    return scaled(trace);
  }

 private:
  data::SampleRoom room() { return {values_, tokens_, labels_, targets_}; }
  std::uint64_t add(std::uint64_t trace) const {
    trace = xxh3(std::as_bytes(std::span(values_)), trace);
    trace = xxh3(std::as_bytes(std::span(tokens_)), trace);
    trace = xxh3(std::as_bytes(std::span(labels_)), trace);
    return xxh3(std::as_bytes(std::span(targets_)), trace);
  }
  static float scaled(std::uint64_t trace) { return static_cast<float>(trace >> 40) * 0x1p-24f; }

  engine::Job job_;
  data::DatasetPtr samples_;
  engine::SampleOrder order_;
  std::vector<float> values_;
  std::vector<std::int64_t> tokens_;
  std::vector<std::int64_t> labels_;
  std::vector<float> targets_;
};

// Counts the units of all slots together; the first two of a process are the fingerprint's.
class TroubledComputer final : public engine::UnitComputer {
 public:
  TroubledComputer(std::unique_ptr<engine::UnitComputer> inner, const Flags& flags,
                   std::atomic<std::uint64_t>& units, std::optional<SampleTrace> trace)
      : inner_(std::move(inner)), flags_(flags), units_(units), trace_(std::move(trace)) {}

  double gradient(const engine::Weights& weights, Step step, Unit unit,
                  std::span<float> out) override {
    const auto begun = ++units_;
    if (flags_.units_limit != 0 && begun > flags_.units_limit) ::_exit(137);
    if (flags_.throw_at != 0 && begun >= flags_.throw_at)
      throw std::runtime_error("asked to throw");
    if (flags_.delay.count() > 0) std::this_thread::sleep_for(flags_.delay);
    const double loss = inner_->gradient(weights, step, unit, out);
    if (trace_) out[0] += trace_->of_unit(step, unit);
    return loss;
  }
  engine::EvalOutcome evaluate(const engine::Weights& weights, std::uint64_t first,
                               std::uint64_t count) override {
    auto outcome = inner_->evaluate(weights, first, count);
    if (trace_) outcome.loss_sum += static_cast<double>(trace_->held_out(first, count));
    return outcome;
  }

 private:
  std::unique_ptr<engine::UnitComputer> inner_;
  const Flags& flags_;
  std::atomic<std::uint64_t>& units_;
  std::optional<SampleTrace> trace_;
};

class TroubledFactory final : public engine::ComputerFactory {
 public:
  TroubledFactory(const engine::Job& job, const engine::Layout& layout, data::DatasetPtr samples,
                  const Flags& flags)
      : job_(job), stub_(job, layout), samples_(std::move(samples)), flags_(flags) {}

  std::unique_ptr<engine::UnitComputer> make_computer() override {
    std::optional<SampleTrace> trace;
    if (flags_.read_samples) trace.emplace(job_, samples_);
    return std::make_unique<TroubledComputer>(stub_.make_computer(), flags_, units_,
                                              std::move(trace));
  }
  std::string libraries() const override { return stub_.libraries(); }

 private:
  engine::Job job_;
  engine::StubFactory stub_;
  data::DatasetPtr samples_;
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

engine::Job read_job(const char* file) {
  std::ifstream stream(file);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  return value_or_throw(engine::parse_job(text, file));
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
  } else if (flag == "--data") {
    flags.client.samples_folder = value;
  } else if (flag == "--job") {
    flags.client.sample_files = net::files_as_named(read_job(value));
  } else if (flag == "--cache") {
    flags.client.cache_folder = value;
  } else if (flag == "--cache-bytes") {
    flags.client.cache_bytes_max = number(flag, value);
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
    } else if (flag == "--verbose") {
      log::set_level(log::Level::kVerbose);
    } else if (flag == "--read-samples") {
      flags.read_samples = true;
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
  const auto make_factory = [&flags](const engine::Job& job, const engine::Layout& layout,
                                     data::DatasetPtr samples) {
    return std::make_unique<TroubledFactory>(job, layout, std::move(samples), flags);
  };
  net::NodeClient client(flags.client, {.make_factory = make_factory});
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
