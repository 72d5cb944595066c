#pragma once
// The nodes of `wide train` on this machine: one `wide-node local` that forks them. They live in a
// process group of their own, so that Ctrl-C in a terminal reaches the pool alone, and they die
// with the pool however it ends.

#include <sys/types.h>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "wide/apps/cli/node_program.h"
#include "wide/base/clock.h"

namespace wide::apps {

class LocalNodes final {
 public:
  // Must be called on the main thread: the kernel ends the nodes when the thread that started
  // them ends.
  explicit LocalNodes(const NodeCall& call);
  ~LocalNodes();  // ends them at once where they are still there
  LocalNodes(const LocalNodes&) = delete;
  LocalNodes& operator=(const LocalNodes&) = delete;

  pid_t pid() const { return pid_; }

  // Empty while any of them lives; then how they ended: "exit code 7", "signal 9 (Killed)".
  std::optional<std::string> ending() const;

  // Waits for them to leave by themselves; ends them past `patience`.
  void let_go(Duration patience);

 private:
  void watch();
  void signal_all(int signal);
  bool gone_within(Duration patience);

  pid_t pid_ = -1;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::string> ending_;
  std::thread watcher_;
};

}  // namespace wide::apps
