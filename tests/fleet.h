#pragma once
// For whole-run tests: a run that outlives its pools, nodes that come and go, a bad network.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "jobs.h"
#include "runs.h"

namespace wide::tests {

using Words = std::vector<std::string>;

inline Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// A free port below those that the kernel hands out by itself: a node that dials a dead pool's port
// again and again would otherwise be connected to itself one day, and keep the pool from it.
inline std::string quiet_port() {
  static std::mt19937 dice(std::random_device{}());
  for (;;) {
    const auto port = static_cast<std::uint16_t>(20000 + dice() % 12000);
    const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    const bool is_free = bind(probe, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    close(probe);
    if (is_free) return std::to_string(port);
  }
}

// One job, one folder, one port; pools that are opened, killed and opened again on them.
class LongRun final {
 public:
  LongRun(std::string job_file, std::string folder, Words flags = {},
          const std::string& host = "127.0.0.1")
      : job_file_(std::move(job_file)),
        folder_(std::move(folder)),
        flags_(std::move(flags)),
        address_(host + ":" + quiet_port()) {}

  const std::string& address() const { return address_; }
  const std::string& folder() const { return folder_; }
  Process& pool() { return *pool_; }
  int opened() const { return opened_; }

  Words command() const {
    const Words resume = opened_ > 0 ? Words{"--resume"} : Words{};
    return before_ + Words{program("wide"), "pool",   job_file_, "--out", folder_,
                           "--listen",      address_, "--json",  "--log", "verbose"} +
           resume + flags_;
  }

  // A command line that ends with starting another one, to start pools with.
  void start_with(Words before) { before_ = std::move(before); }

  // The first one makes the run, the others resume it. Does not wait for anything.
  Process& open(const Process::Environment& environment = {}) {
    pool_ = std::make_unique<Process>(command(), environment);
    ++opened_;
    return *pool_;
  }
  Process& open_and_listen(const Process::Environment& environment = {}) {
    open(environment);
    EXPECT_TRUE(listens()) << pool_->err();
    return *pool_;
  }
  bool listens(Seconds patience = Seconds(20)) {
    return pool_->wait_for("wide join wide://", 1, patience);
  }
  void kill() {
    pool_->signal(SIGKILL);
    pool_->wait();
  }
  // The step that this pool went on from; 0 where it has not said so, or made the run.
  std::uint64_t resumed_at() {
    const std::string words = "resumed at step ";
    const std::string said = pool_->err();
    const auto at = said.find(words);
    return at == std::string::npos ? 0 : std::stoull(said.substr(at + words.size()));
  }

  // Until the run is over by itself.
  Json end(Seconds patience = Seconds(60)) {
    EXPECT_EQ(pool_->wait(patience), 0) << pool_->err();
    return summary_of(*pool_);
  }
  Json verify() const { return run_to_end({"wide", "verify", folder_, "--json"}); }

 private:
  std::string job_file_;
  std::string folder_;
  Words flags_;
  Words before_;
  std::string address_;
  std::unique_ptr<Process> pool_;
  int opened_ = 0;
};

// Stub nodes of one pool, each with a name of its own.
class Nodes final {
 public:
  explicit Nodes(std::string address, Words flags = {})
      : address_(std::move(address)), flags_(std::move(flags)) {}

  Process& add(const Words& more = {}) {
    const std::string name = "n" + std::to_string(++born_);
    nodes_.push_back(std::make_unique<Process>(
        Words{"wide-stub-node", "--connect", address_, "--name", name} + flags_ + more));
    return *nodes_.back();
  }
  // Those that have ended (nobody answered their first call) are replaced.
  void fill_up(std::size_t count) {
    std::erase_if(nodes_, [](const auto& node) { return !node->running(); });
    while (nodes_.size() < count) add();
  }
  void kill_any(std::mt19937& dice) {
    const std::size_t victim = dice() % nodes_.size();
    nodes_[victim]->signal(SIGKILL);
    nodes_[victim]->wait();
    nodes_.erase(nodes_.begin() + static_cast<std::ptrdiff_t>(victim));
  }
  void clear() { nodes_.clear(); }
  Process& operator[](std::size_t index) { return *nodes_[index]; }
  std::size_t size() const { return nodes_.size(); }

 private:
  std::string address_;
  Words flags_;
  std::deque<std::unique_ptr<Process>> nodes_;
  int born_ = 0;
};

// Slow nodes keep a run going until enough has happened to it; then they make room for fast ones.
inline Json end_quickly(LongRun& run, Nodes& slow) {
  slow.clear();
  Nodes fast(run.address());
  fast.fill_up(2);
  return run.end();
}

// wide-chaos between nodes and a pool.
class BadNetwork final {
 public:
  BadNetwork(const std::string& to, const Words& flags)
      : process_(Words{"wide-chaos", "--to", to, "--json"} + flags) {
    EXPECT_TRUE(process_.wait_for("\n", 1, Seconds(20))) << process_.err();
    address_ = process_.out().substr(0, process_.out().find('\n'));
  }

  const std::string& address() const { return address_; }
  Json end() {  // what it did
    process_.signal(SIGINT);
    EXPECT_EQ(process_.wait(Seconds(10)), 0) << process_.err();
    const std::string said = process_.out();
    return Json::parse(said.substr(said.find('\n')), nullptr, false);
  }

 private:
  Process process_;
  std::string address_;
};

// What the weights are when nothing goes wrong.
inline std::string calm_hash(const Folder& folder, const std::string& job_file) {
  PoolProcess pool(folder, job_file);
  Nodes nodes(pool.address());
  nodes.add();
  return hash_of(pool.end());
}

}  // namespace wide::tests
