#pragma once
// For whole-run tests: a pool, a training run, and what their summaries say.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "process.h"

namespace wide::tests {

using Json = nlohmann::json;

// The summary that a finished command printed.
inline Json summary_of(Process& process) {
  const Json summary = Json::parse(process.out(), nullptr, false);
  EXPECT_TRUE(summary.is_object()) << process.out() << process.err();
  return summary.is_object() ? summary : Json::object();
}

inline std::string hash_of(const Json& summary) {
  return summary.value("weights_sha256", std::string("no hash"));
}

// Runs a command to its end; its summary.
inline Json run_to_end(std::vector<std::string> argv, Seconds patience = Seconds(120)) {
  Process process(std::move(argv));
  EXPECT_EQ(process.wait(patience), 0) << process.err();
  return summary_of(process);
}

// A pool on a port of its own choosing, with its URL.
class PoolProcess final {
 public:
  PoolProcess(const Folder& folder, const std::string& job, std::vector<std::string> flags = {},
              const std::string& listen = "127.0.0.1:0")
      : process_(command(folder, job, std::move(flags), listen)) {
    EXPECT_TRUE(process_.wait_for("wide join wide://", 1, Seconds(20))) << process_.err();
    const std::string said = process_.out() + process_.err();
    const auto at = said.find("wide://");
    if (at != std::string::npos) url_ = said.substr(at, said.find_first_of(" \n\"", at) - at);
  }

  Process& process() { return process_; }
  const std::string& url() const { return url_; }
  std::string address() const { return url_.substr(std::string("wide://").size()); }

  Json end(Seconds patience = Seconds(120)) {
    EXPECT_EQ(process_.wait(patience), 0) << process_.err();
    return summary_of(process_);
  }

 private:
  static std::vector<std::string> command(const Folder& folder, const std::string& job,
                                          std::vector<std::string> flags,
                                          const std::string& listen) {
    static int runs = 0;
    std::vector<std::string> argv = {
        "wide",   "pool",  job,       "--listen", listen,
        "--json", "--log", "verbose", "--out",    folder.file("run" + std::to_string(++runs))};
    argv.insert(argv.end(), flags.begin(), flags.end());
    return argv;
  }

  Process process_;
  std::string url_;
};

}  // namespace wide::tests
