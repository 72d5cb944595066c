#pragma once
// The flags of one command: what they are called, where their values go, what help says of them.
// The only door to CLI11. A value comes from the flag, else from the environment, else it stays
// what it was (a default, or what the job file says).
//
//   CommandLine line("join", "Joins a pool as a node.", "  wide join wide://192.168.1.7:7878\n");
//   line.positional("URL", url, "where the pool is");
//   line.whole("--slots", slots, "compute threads", {"WIDE_SLOTS",
//   environment.value("WIDE_SLOTS")}); if (!line.parse(arguments)) return ExitCode::kOk;  // help
//   was asked for and given

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "wide/apps/edge/environment.h"

namespace wide::apps {

class CommandLine final {
 public:
  CommandLine(std::string program, std::string command, std::string does, std::string examples);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // `fallback` names the environment variable behind a flag and holds its value ("" where unset).
  void text(const std::string& flag, std::string& value, const std::string& help,
            Variable fallback = {});
  void whole(const std::string& flag, std::optional<std::uint64_t>& value, const std::string& help,
             Variable fallback = {});
  void number(const std::string& flag, std::optional<double>& value, const std::string& help,
              Variable fallback = {});
  void flag(const std::string& flag, bool& value, const std::string& help);
  void positional(const std::string& name, std::string& value, const std::string& help,
                  bool required = true);

  // False: help was asked for, and went to stdout. Throws Failure (kUsage) for anything that is
  // not understood, with the nearest flag where one is near.
  bool parse(const std::vector<std::string>& arguments);
  std::string help() const;

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace wide::apps
