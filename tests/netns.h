#pragma once
// For whole-run tests: a network namespace of its own, joined to ours by a cable, gone at the end.
// Needs root; a test that has none says so and skips.

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "process.h"

namespace wide::tests {

// Root, where the machine lets root make namespaces and mount things in them.
inline bool may_make_namespaces() {
  if (geteuid() != 0) return false;
  Process probe(
      {"/usr/bin/unshare", "--mount", "--net", "/bin/mount", "-t", "tmpfs", "none", "/mnt"});
  return probe.wait(Seconds(10)) == 0;
}

class Namespace final {
 public:
  Namespace() {
    static int count = 0;
    const std::string number = std::to_string(getpid() % 10000) + "-" + std::to_string(++count);
    name_ = "wide" + number;
    ours_ = "wo" + number;
    theirs_ = "wt" + number;
    subnet_ = "10.213." + std::to_string(getpid() % 250) + ".";
    ip({"netns", "add", name_});
    ip({"link", "add", ours_, "type", "veth", "peer", "name", theirs_, "netns", name_});
    ip({"addr", "add", subnet_ + "1/24", "dev", ours_});
    ip({"link", "set", ours_, "up"});
    ip({"-n", name_, "addr", "add", subnet_ + "2/24", "dev", theirs_});
    ip({"-n", name_, "link", "set", theirs_, "up"});
    ip({"-n", name_, "link", "set", "lo", "up"});
  }
  ~Namespace() { ip({"netns", "del", name_}); }
  Namespace(const Namespace&) = delete;
  Namespace& operator=(const Namespace&) = delete;

  std::string outside() const { return subnet_ + "1"; }  // where we are, seen from inside

  // Silently: what is sent inside goes nowhere, and nobody outside is told.
  void cut() const { ip({"-n", name_, "route", "add", "blackhole", outside() + "/32"}); }
  void mend() const { ip({"-n", name_, "route", "del", "blackhole", outside() + "/32"}); }

  // Both ways, by a token bucket with a short queue. False where the kernel cannot.
  bool slow_down(const std::string& rate) const {
    const std::vector<std::string> shape = {"root",  "tbf",  "rate",    rate,
                                            "burst", "32kb", "latency", "20ms"};
    return tc({"qdisc", "add", "dev", ours_}, shape) &&
           tc({"-n", name_, "qdisc", "add", "dev", theirs_}, shape);
  }

  // A command line that runs inside.
  std::vector<std::string> inside(std::vector<std::string> argv) const {
    std::vector<std::string> whole = {"/usr/sbin/ip", "netns", "exec", name_};
    whole.insert(whole.end(), argv.begin(), argv.end());
    return whole;
  }

 private:
  static void ip(std::vector<std::string> words) {
    words.insert(words.begin(), "/usr/sbin/ip");
    Process process(words);
    EXPECT_EQ(process.wait(Seconds(10)), 0) << testing::PrintToString(words) << process.err();
  }

  static bool tc(std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.begin(), "/usr/sbin/tc");
    words.insert(words.end(), more.begin(), more.end());
    return Process(words).wait(Seconds(10)) == 0;
  }

  std::string name_;
  std::string ours_;  // ends of the cable
  std::string theirs_;
  std::string subnet_;
};

}  // namespace wide::tests
