#pragma once
// Pools and nodes on threads of this process, over loopback, with made-up gradients; and raw
// sockets that behave badly. For tests.

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <thread>

#include "wide/engine/stub_computer.h"
#include "wide/net/node_client.h"
#include "wide/net/pool_server.h"
#include "wide/net/steady.h"
#include "wide/wire/frame_writer.h"

namespace wide::net {

using namespace std::chrono_literals;

// Asks again and again until it is so; false after `limit`.
inline bool eventually(const std::function<bool()>& is_so, Duration limit = 15s) {
  const Time until = steady_now() + limit;
  while (!is_so()) {
    if (steady_now() > until) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

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

// A blocking socket without any manners.
class RawPeer final {
 public:
  explicit RawPeer(int descriptor) : descriptor_(descriptor) {}
  ~RawPeer() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  RawPeer(RawPeer&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  RawPeer& operator=(RawPeer&&) = delete;

  static int make_socket() { return ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0); }
  static RawPeer dial(const Endpoint& pool, int receive_bytes = 0) {
    const int descriptor = make_socket();
    if (receive_bytes > 0) {
      ::setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof(receive_bytes));
    }
    RawPeer peer(descriptor);
    peer.connect_to(pool);
    return peer;
  }
  bool connect_to(const Endpoint& pool) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(pool.port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return ::connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }

  bool say(std::string_view bytes) {  // false: the other side is gone
    return ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
  }
  // Whatever comes until the other side hangs up; nothing if it does not within `limit`.
  std::optional<std::string> hear_out(Duration limit = 10s) {
    const Time until = steady_now() + limit;
    std::string heard;
    for (;;) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - steady_now());
      pollfd ready{descriptor_, POLLIN, 0};
      if (left.count() <= 0 || ::poll(&ready, 1, static_cast<int>(left.count())) <= 0) return {};
      char chunk[4096];
      const auto count = ::recv(descriptor_, chunk, sizeof(chunk), 0);
      if (count <= 0) return heard;
      heard.append(chunk, static_cast<std::size_t>(count));
    }
  }
  bool is_cut(Duration limit = 10s) { return hear_out(limit).has_value(); }
  bool is_cut_unread(Duration limit = 10s) {  // the same, without taking a byte
    const auto limit_ms = std::chrono::duration_cast<std::chrono::milliseconds>(limit);
    pollfd ended{descriptor_, POLLRDHUP, 0};
    return ::poll(&ended, 1, static_cast<int>(limit_ms.count())) == 1;
  }

 private:
  int descriptor_;
};

// Listens, and does nothing else unless told.
class RawListener final {
 public:
  RawListener() : descriptor_(RawPeer::make_socket()) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    ::bind(descriptor_, reinterpret_cast<sockaddr*>(&address), length);
    ::listen(descriptor_, 16);
    ::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address), &length);
    address_ = {"127.0.0.1", ntohs(address.sin_port)};
  }
  ~RawListener() { ::close(descriptor_); }
  RawListener(const RawListener&) = delete;
  RawListener& operator=(const RawListener&) = delete;

  const Endpoint& address() const { return address_; }
  RawPeer accept() {  // one that is closed already where nobody calls for ten seconds
    pollfd ready{descriptor_, POLLIN, 0};
    if (::poll(&ready, 1, 10'000) <= 0) return RawPeer(-1);
    return RawPeer(::accept(descriptor_, nullptr, nullptr));
  }

 private:
  int descriptor_;
  Endpoint address_;
};

}  // namespace wide::net
