#pragma once
// Pools and nodes on threads of this process, over loopback, with made-up gradients. For tests.

#include <atomic>
#include <future>
#include <optional>
#include <string>
#include <thread>

#include "wide/engine/stub_computer.h"
#include "wide/net/node_client.h"
#include "wide/net/pool_server.h"
#include "wide/net/test_sockets.h"
#include "wide/wire/frame_writer.h"

namespace wide::net {

inline engine::Job small_job(std::uint64_t steps = 20) {
  engine::Job job;
  job.name = "small";
  job.model.kind = engine::ModelKind::kMlp;
  job.model.layers = {10, 16, 10};
  job.samples.kind = engine::SampleKind::kSynthetic;
  job.samples.count = 200;
  job.train.batch = 4;
  job.train.units_per_step = 7;
  job.train.steps = steps;
  return job;
}

class PoolOnThread final {
 public:
  struct Settings {
    engine::Job job = small_job();
    engine::PoolOptions pool{};
    PoolServerOptions server{};
    store::RunFolder* folder = nullptr;
  };

  explicit PoolOnThread(Settings settings)
      : samples_(settings.server.samples
                     ? settings.server.samples
                     : data::make_synthetic(settings.job.seed, settings.job.samples.count,
                                            settings.job.samples.features,
                                            settings.job.samples.classes)),
        pool_(settings.job, samples_->space(),
              engine::make_genesis(settings.job, samples_->space()), settings.pool, buffers_),
        server_(pool_, settings.server, watcher(), settings.folder),
        ended_(std::async(std::launch::async, [this] { return server_.run(); })) {}
  ~PoolOnThread() {
    if (ended_.valid()) server_.abandon();
  }

  Endpoint address() const { return server_.bound(); }
  PoolServer& server() { return server_; }
  Step step() const { return step_; }  // about now, while it runs

  // Waits for the end of the run. Only then may the pool be asked.
  std::optional<Error> end() { return ended_.get(); }
  bool ends_within(Duration limit) { return ended_.wait_for(limit) == std::future_status::ready; }
  const engine::Pool& pool() const { return pool_; }
  engine::Summary summary() const { return pool_.summary(); }
  std::string weights() const { return pool_.replica().weights_sha256().hex(); }

 private:
  PoolWatcher watcher() {
    PoolWatcher watcher;
    watcher.on_progress = [this](const engine::Progress& progress) { step_ = progress.step; };
    return watcher;
  }

  std::atomic<Step> step_ = 0;
  data::DatasetPtr samples_;
  BufferPool buffers_;
  engine::Pool pool_;
  PoolServer server_;
  std::future<std::optional<Error>> ended_;
};

inline std::unique_ptr<engine::ComputerFactory> make_stub(const engine::Job& job,
                                                          const engine::Layout& layout,
                                                          const data::DatasetPtr&) {
  return std::make_unique<engine::StubFactory>(job, layout);
}

class NodeOnThread final {
 public:
  explicit NodeOnThread(const Endpoint& pool, std::uint16_t slots = 1,
                        FactoryMaker make_factory = make_stub)
      : NodeOnThread(options_for(pool, slots), std::move(make_factory)) {}
  NodeOnThread(NodeClientOptions options, FactoryMaker make_factory = make_stub)
      : client_(std::move(options), Tools{.make_factory = std::move(make_factory)}),
        ended_(std::async(std::launch::async, [this] { return run(); })) {}
  ~NodeOnThread() {
    if (ended_.valid()) client_.leave("the test is over");
  }

  static NodeClientOptions options_for(const Endpoint& pool, std::uint16_t slots) {
    NodeClientOptions options;
    options.pool = pool;
    options.node = {"node", slots, "test"};
    options.quiet = true;
    return options;
  }

  NodeClient& client() { return client_; }
  std::optional<Error> end() { return ended_.get(); }
  bool ends_within(Duration limit) { return ended_.wait_for(limit) == std::future_status::ready; }

 private:
  std::optional<Error> run() {
    try {
      client_.run();
    } catch (const Failure& failure) {
      return failure.error();
    }
    return std::nullopt;
  }

  NodeClient client_;
  std::future<std::optional<Error>> ended_;
};

// Bytes of whole frames, as one end of a link would send them from its first one on.
inline std::string frames(std::vector<wire::Message> messages) {
  wire::FrameWriter writer;
  for (auto& message : messages) {
    writer.push(std::make_shared<const wire::Packet>(wire::encode(std::move(message))));
  }
  std::string bytes;
  std::vector<std::span<const std::byte>> segments;
  while (!writer.empty()) {
    writer.gather(segments);
    std::size_t count = 0;
    for (const auto& segment : segments) {
      bytes.append(reinterpret_cast<const char*>(segment.data()), segment.size());
      count += segment.size();
    }
    writer.sent(count);
  }
  return bytes;
}

}  // namespace wide::net
