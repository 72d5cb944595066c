#pragma once
// For whole-run tests: a real process, what it says, and how it ends. Waits are for events (a text
// on its output, its end), never for time to pass; every wait has a deadline.

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace wide::tests {

using Seconds = std::chrono::duration<double>;

class Process final {
 public:
  using Environment = std::map<std::string, std::string>;

  // argv[0] is a program beside the tests, or an absolute path.
  explicit Process(std::vector<std::string> argv, const Environment& environment = {});
  ~Process();  // kill -9 and reap, where it still runs
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number) const;

  // Until stderr or stdout has had `text` `count` times; false when it ended or time was up.
  bool wait_for(const std::string& text, std::size_t count = 1, Seconds patience = Seconds(60));

  // Until it ends: its exit code, or 128 + signal. -1: it did not end in time.
  int wait(Seconds patience = Seconds(120));

  std::string out();
  std::string err();
  bool running();

 private:
  void read_all(int out, int err);
  std::size_t occurrences(const std::string& text) const;

  pid_t pid_ = -1;
  int status_ = 0;
  bool reaped_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string out_;
  std::string err_;
  bool ended_ = false;  // both streams are closed
  std::thread reader_;
};

// The path of a program of this build.
std::string program(const std::string& name);

// Children of a process, and theirs.
std::vector<pid_t> descendants(pid_t pid);

// A fresh folder that is removed at the end.
class Folder final {
 public:
  Folder();
  ~Folder();
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, const std::string& text) const;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace wide::tests
