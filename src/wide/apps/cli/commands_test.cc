#include "wide/apps/cli/commands.h"

#include <gtest/gtest.h>

#include <string>

#include "wide/apps/edge/command_line.h"

namespace wide::apps {

namespace {
Error complaint_about(std::string_view word) {
  try {
    find_command(word);
  } catch (const Failure& failure) {
    return failure.error();
  }
  return {};
}

struct Parsed {
  std::string file;
  std::optional<std::uint64_t> nodes;
  Error error{Errc::kBug, "none"};
};

Parsed parse(std::vector<std::string> arguments, const std::string& variable = "") {
  Parsed parsed;
  CommandLine line("wide", "train", "Trains.", "");
  line.positional("JOB", parsed.file, "what");
  line.whole("--nodes", parsed.nodes, "how many", {"WIDE_NODES", variable});
  try {
    line.parse(arguments);
  } catch (const Failure& failure) {
    parsed.error = failure.error();
  }
  return parsed;
}
}  // namespace

TEST(FindCommand, KnowsEveryCommandItLists) {
  for (const auto& command : commands()) EXPECT_EQ(find_command(command.name).name, command.name);
}

TEST(FindCommand, SuggestsTheNearestWord) {
  const auto error = complaint_about("trian");

  EXPECT_EQ(error.code, Errc::kUsage);
  EXPECT_NE(error.detail.find("did you mean 'train'?"), std::string::npos) << error.detail;
}

TEST(FindCommand, SaysWhatIsNotInThisVersion) {
  for (const auto* word : {"top", "token"}) {
    EXPECT_EQ(complaint_about(word).code, Errc::kNotYet) << word;
    EXPECT_EQ(overview().find(std::string("wide ") + word), std::string::npos) << word;
  }
}

TEST(Overview, ShowsExamplesBeforeCommands) {
  const std::string text = overview();

  EXPECT_LT(text.find("wide join wide://"), text.find("wide join URL"));
}

TEST(CommandLine, TakesTheFlagBeforeTheEnvironment) {
  EXPECT_EQ(parse({"job.toml", "--nodes", "4"}, "7").nodes, 4u);
  EXPECT_EQ(parse({"job.toml"}, "7").nodes, 7u);
  EXPECT_EQ(parse({"job.toml"}).nodes, std::nullopt);
}

TEST(CommandLine, SuggestsTheNearestFlag) {
  const auto error = parse({"job.toml", "--node", "4"}).error;

  EXPECT_EQ(error.code, Errc::kUsage);
  EXPECT_NE(error.detail.find("did you mean '--nodes'?"), std::string::npos) << error.detail;
}

TEST(CommandLine, RefusesWhatIsNotANumber) {
  EXPECT_EQ(parse({"job.toml", "--nodes", "many"}).error.code, Errc::kUsage);
  EXPECT_EQ(parse({"job.toml", "--nodes", "-1"}).error.code, Errc::kUsage);

  const auto error = parse({"job.toml"}, "many").error;
  EXPECT_EQ(error.code, Errc::kUsage);
  EXPECT_NE(error.detail.find("WIDE_NODES"), std::string::npos) << error.detail;
}

TEST(CommandLine, MissesWhatItNeeds) { EXPECT_EQ(parse({}).error.code, Errc::kUsage); }

}  // namespace wide::apps
