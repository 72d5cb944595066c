#pragma once
// For tests: this very program once more, as another process, running one test that also prints.

#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

namespace wide::train {

// Runs `test` with `environment` ("NAME=value" or empty) and returns the rest of the last line of
// its output that starts with `label`.
inline std::string answer_of_rerun(const std::string& test, const std::string& label,
                                   const std::string& environment = "") {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command = "env " + environment + " '" + program + "' --gtest_filter=" + test;
  std::unique_ptr<FILE, int (*)(FILE*)> output(popen(command.c_str(), "r"), pclose);
  std::string answer;
  std::array<char, 512> line;
  while (fgets(line.data(), line.size(), output.get()) != nullptr) {
    const std::string text(line.data());
    if (text.starts_with(label)) answer = text.substr(label.size(), text.find('\n') - label.size());
  }
  return answer;
}

}  // namespace wide::train
